// FairShare: how much measuring each namespace was given.
//
// Concept: a namespace with jobs is *charged* for the time that workers measure
// for it; the one that was charged least goes first. One that comes back is
// charged no less than the minimum of those that are there. Time that it did
// not use is no credit, or it would keep all others waiting for as long as it
// was away.
// Threads: one at a time; the queue's lock guards it. Errors: none.
#ifndef MESHWRIGHT_COORDINATOR_JOBS_FAIR_SHARE_H_
#define MESHWRIGHT_COORDINATOR_JOBS_FAIR_SHARE_H_

#include <cstddef>
#include <map>
#include <string>

#include "absl/time/time.h"

namespace meshwright::jobs {

class FairShare {
 public:
  // A job of the namespace comes, and ends.
  void Enter(const std::string& name_space);
  // Of one job; its charge is kept for a while after the last one.
  void Leave(const std::string& name_space);
  // A negative time corrects an estimate.
  void Charge(const std::string& name_space, absl::Duration time);
  // Zero for an unknown namespace.
  absl::Duration charged(const std::string& name_space) const;

 private:
  // Namespaces without jobs of which the charge is kept.
  static constexpr size_t kMaxAbsent = 1024;

  struct Account {
    int jobs = 0;
    absl::Duration charged;
  };

  std::map<std::string, Account> accounts_;
  size_t absent_ = 0;
};

}  // namespace meshwright::jobs

#endif  // MESHWRIGHT_COORDINATOR_JOBS_FAIR_SHARE_H_
