// Evaluate: what a plan costs, computed without any solver.
//
// In → Out: a validated problem and a choice → seconds and peak bytes.
// Errors: kInvalidArgument for a choice of the wrong shape, kFailedPrecondition
// for a pair of configurations that a table forbids, kOutOfRange when the time
// or the bytes pass what 63 bits hold.
#ifndef MESHWRIGHT_PLANNER_PROBLEM_EVALUATE_H_
#define MESHWRIGHT_PLANNER_PROBLEM_EVALUATE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "planner/problem/plan_problem.h"

namespace meshwright::problem {

struct Evaluation {
  Picoseconds time{0};
  Picoseconds resharding_time{0};  // the part of `time` that tables account for
  int64_t peak_bytes = 0;
};

absl::StatusOr<Evaluation> Evaluate(const PlanProblem& problem,
                                    const Choice& choice);

}  // namespace meshwright::problem

#endif  // MESHWRIGHT_PLANNER_PROBLEM_EVALUATE_H_
