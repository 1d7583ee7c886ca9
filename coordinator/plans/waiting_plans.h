// WaitingPlans: the plans that wait for devices, and why.
//
// Concept: a plan waits until a worker has the devices that it needs. Many
// plans wait for the same. So the different needs are listed, somebody finds
// out about each once, and all plans of a need are told.
//
//   ListNeeds ─▶ name, needs ─▶ (is there a worker?) ─▶ Take ─▶ those that are
//                                           ready, and those with a new reason
//
// A reason stands for kReasonStands before another one takes its place.
// Threads: one at a time; the runner's lock guards it, but not while somebody
// finds out. Plans may come and go meanwhile. Errors: none.
#ifndef MESHWRIGHT_COORDINATOR_PLANS_WAITING_PLANS_H_
#define MESHWRIGHT_COORDINATOR_PLANS_WAITING_PLANS_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "coordinator/plans/plan_measurer.h"
#include "profiledb/store/plan_store.h"

namespace meshwright::plans {

class WaitingPlans {
 public:
  static constexpr absl::Duration kReasonStands = absl::Seconds(10);

  struct News {
    std::vector<store::PlanId> ready;  // they wait no more
    std::vector<std::pair<store::PlanId, std::string>> changed;  // the reason
  };

  // One that waits already begins anew. Times are of the steady clock.
  void Add(store::PlanId id, const Needs& needs, absl::Time now);
  // An unknown plan changes nothing, here and below.
  void Remove(store::PlanId id) { plans_.erase(id); }
  void Clear() { plans_.clear(); }
  // The plan's last update says that it waits for this reason.
  void Tell(store::PlanId id, const std::string& reason, absl::Time now);

  // The different ones, by names of their own.
  std::map<std::string, Needs> ListNeeds() const;
  // What was found of each: OK, or why there is no worker. Plans whose needs
  // are not among them go on waiting.
  News Take(const std::map<std::string, absl::Status>& found, absl::Time now);

  // Zero: none waits.
  absl::Duration FindLongest(absl::Time now) const;

 private:
  struct Plan {
    std::string name;  // of its needs
    Needs needs;
    absl::Time since;
    std::string said;  // the reason that its last update has; none: on its way
    absl::Time told;
  };

  std::map<store::PlanId, Plan> plans_;
};

}  // namespace meshwright::plans

#endif  // MESHWRIGHT_COORDINATOR_PLANS_WAITING_PLANS_H_
