// Validate: what a ReshardProblem must fulfil before a solver sees it.
//
// Errors: kInvalidArgument, one sentence that names the task or host and the
// field.
#ifndef MESHWRIGHT_PLANNER_RESHARD_PROBLEM_VALIDATE_H_
#define MESHWRIGHT_PLANNER_RESHARD_PROBLEM_VALIDATE_H_

#include "absl/status/status.h"
#include "planner/reshard/problem/reshard_problem.h"

namespace meshwright::reshard {

absl::Status Validate(const ReshardProblem& problem);

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_PROBLEM_VALIDATE_H_
