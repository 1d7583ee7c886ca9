// Schedule: who sends what, in which order; and Replay, which times it.
//
// Concept: sends start in the order of the list, each as soon as its ports are
// free. These are its sender's outgoing one and the incoming one of every
// receiver. A port of several links is free while a link is. A send takes, of
// the links free when it starts, the one that was in use last. Replay knows no
// solver: every answer is scored by it.
// Errors: kInvalidArgument if the schedule is none of the problem.
// Source: papers/cross_mesh_resharding.txt, Eqs. 1-3.
#ifndef MESHWRIGHT_PLANNER_RESHARD_PROBLEM_SCHEDULE_H_
#define MESHWRIGHT_PLANNER_RESHARD_PROBLEM_SCHEDULE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "planner/reshard/problem/durations.h"
#include "planner/reshard/problem/reshard_problem.h"

namespace meshwright::reshard {

struct Send {
  int task = 0;
  int sender = 0;     // a host
  int64_t bytes = 0;  // all of the task's, unless it is split
};

using Schedule = std::vector<Send>;

struct Timing {
  std::vector<Ticks> start;  // per send
  std::vector<Ticks> end;
  Ticks makespan = 0;
};

// `problem` must be valid. Every task is sent once, whole; where the problem
// allows it, in parts, each by a sender of its own.
absl::StatusOr<Timing> Replay(const ReshardProblem& problem,
                              const Schedule& schedule);

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_PROBLEM_SCHEDULE_H_
