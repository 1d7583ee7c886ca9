// PlanProblem as JSON: the `search` format of docs/formats/search.md.
//
// In → Out: a document → a validated problem.
// Units: seconds and bytes, as the field names say.
// Errors: kInvalidArgument in one sentence that names the field.
#ifndef MESHWRIGHT_PLANNER_PROBLEM_PROBLEM_JSON_H_
#define MESHWRIGHT_PLANNER_PROBLEM_PROBLEM_JSON_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "planner/problem/plan_problem.h"

namespace meshwright::problem {

absl::StatusOr<PlanProblem> ProblemFromJson(std::string_view json);

}  // namespace meshwright::problem

#endif  // MESHWRIGHT_PLANNER_PROBLEM_PROBLEM_JSON_H_
