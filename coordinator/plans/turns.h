// Turns: which plans run now, and which comes next.
//
// Concept: a run takes a thread and the memory of its model, so a bounded
// number run at once. Every run begins with a *look-up turn*: a plan all of
// whose programs are known ends in it. One that has programs measured takes a
// *measuring turn* in its place, until the run ends. Where none is free its run
// ends, and it waits in line without a thread; it runs again with such a turn.
//
//   Wait ─▶ in line ── Give ──▶ looks up ── Upgrade ──▶ measures ── Release
//                                  │ none is free        ▲    │ asked to give
//                                  way
//                               Release                  │    ▼ Release
//                                  └──▶ in line ── Give ─┘◀── in line
//
// In line, plans go by priority, then by share, then by age. The *share* of
// those that look up is their namespace. That of those that measure is their
// namespace with its kind of devices: plans that wait for busy devices hold no
// turn that the namespace's plans for other devices need. First comes the share
// that holds fewest turns, then the one that was charged least
// (jobs/fair_share.h). One that measures is asked to give way to one in line of
// a higher priority. It also gives way to one of the same priority whose share
// holds at least two turns fewer. The newest of those that come last gives way,
// and its turn is promised. So each such step makes the shares more even, and
// they come to an end.
// Threads: one at a time; the runner's lock guards it. Errors: none.
#ifndef MESHWRIGHT_COORDINATOR_PLANS_TURNS_H_
#define MESHWRIGHT_COORDINATOR_PLANS_TURNS_H_

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "coordinator/jobs/fair_share.h"
#include "profiledb/store/plan_store.h"

namespace meshwright::plans {

class Turns {
 public:
  enum class Kind { kLookUp, kMeasuring };

  struct Options {
    int look_ups = 4;
    int measurements = 12;
  };

  explicit Turns(Options options) : options_(options) {}

  struct Share {
    std::string name_space;
    std::string device;  // any text that is the same for the same kind
  };

  // The plan takes part. One that does already stays as it is.
  void Enter(store::PlanId id, const Share& share, int priority);
  // Its place in line, or its turn, is of these devices' share from here on.
  void Pin(store::PlanId id, const std::string& device);
  // It waits for nothing any more, and is forgotten when it holds no turn.
  void Leave(store::PlanId id);
  // The same of all plans.
  void Clear();

  // In line for a turn of the kind, unless it is in line or holds a turn. An
  // unknown plan: nothing, here and below.
  void Wait(store::PlanId id, Kind kind);
  // The next plan whose turn it is; it holds the turn from here on.
  std::optional<store::PlanId> Give(absl::Time now);
  // Of one that looks up: it holds a measuring turn from here on. False: none
  // is free.
  bool Upgrade(store::PlanId id);
  // The run has ended.
  void Release(store::PlanId id, absl::Time now);

  // Those that measure and are to end their runs soon; each is named once.
  std::vector<store::PlanId> AskToGiveWay();

 private:
  enum class State {
    kIdle,
    kWaitsToLookUp,
    kLooksUp,
    kWaitsToMeasure,
    kPromised,  // the turn of one that gives way
    kMeasures,
    kGivesWay,
  };
  struct Plan {
    std::string name_space;  // the share while it looks up
    std::string share;       // and while it measures
    int priority = 0;
    State state = State::kIdle;
    bool leaves = false;
    absl::Time began;
  };
  // By priority, by share.
  using Line = std::map<int, std::map<std::string, std::set<store::PlanId>>,
                        std::greater<>>;
  using Held = std::map<std::string, int>;  // by share
  using PlanMap = std::map<store::PlanId, Plan>;

  void Move(PlanMap::iterator plan, State to);
  void Count(const Plan& plan, store::PlanId id, bool is_in);
  void Forget(PlanMap::iterator plan);
  static std::optional<store::PlanId> FindNext(const Line& line,
                                               const Held& held,
                                               const jobs::FairShare& charges);
  std::optional<store::PlanId> FindNextToMeasure() const;
  // The one of those that measure which comes last.
  std::optional<store::PlanId> FindLast() const;

  const Options options_;
  jobs::FairShare namespaces_;  // charged for all turns
  jobs::FairShare shares_;      // for measuring turns
  PlanMap plans_;
  Line to_look_up_, to_measure_;
  Held looking_up_by_, measuring_by_;  // those that give way do not count
  int looking_up_ = 0;
  int giving_way_ = 0;
  std::set<store::PlanId> measuring_;  // and do not give way
  std::set<store::PlanId> promised_;
};

}  // namespace meshwright::plans

#endif  // MESHWRIGHT_COORDINATOR_PLANS_TURNS_H_
