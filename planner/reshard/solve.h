// Solve: from a problem to a scored answer.
//
// In → Out: a valid or invalid problem → the schedule, timed by Replay, a lower
// bound and whether the two meet. Who asks for one of the paper's solvers gets
// its schedule with our bound.
// Errors: kInvalidArgument from Validate.
// Threads: none shared. Deterministic for a seed unless cut short; a deadline
// or a stop gives the best so far with its bound.
#ifndef MESHWRIGHT_PLANNER_RESHARD_SOLVE_H_
#define MESHWRIGHT_PLANNER_RESHARD_SOLVE_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/deadline.h"
#include "planner/reshard/problem/schedule.h"

namespace meshwright::reshard {

enum class Solver {
  kAuto,   // ours
  kNaive,  // the paper's, as is all below
  kLoadBalance,
  kDepthFirst,
  kRandomized,
  kEnsemble,  // the better of the last two
};

// kInvalidArgument that lists the names.
absl::StatusOr<Solver> ParseSolver(std::string_view name);

struct Options {
  Solver solver = Solver::kAuto;
  uint64_t seed = 1;
  base::Deadline deadline;
};

struct Answer {
  Schedule schedule;
  Timing timing;
  Ticks lower_bound = 0;
  double makespan_seconds = 0;
  double lower_bound_seconds = 0;
  bool optimal = false;  // the makespan is the lower bound, or proven least
  bool split = false;    // some task is sent in parts
  std::string solver;    // what made the schedule
  std::chrono::duration<double> elapsed{};
};

// A schedule as an answer: timed by Replay, its bound never above that.
// kInvalidArgument if it is none of the problem, which is valid.
absl::StatusOr<Answer> Score(const ReshardProblem& problem, Schedule schedule,
                             Ticks lower_bound, std::string solver);

absl::StatusOr<Answer> Solve(const ReshardProblem& problem,
                             const Options& options = {});

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_SOLVE_H_
