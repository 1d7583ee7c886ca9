// Validate: whether a PlanProblem can be trusted by evaluators and solvers.
//
// Errors: kInvalidArgument in one sentence that names the field, as written in
// the JSON format ("types[0].configs[3].saved_bytes is negative: -1").
#ifndef MESHWRIGHT_PLANNER_PROBLEM_VALIDATE_H_
#define MESHWRIGHT_PLANNER_PROBLEM_VALIDATE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "planner/problem/plan_problem.h"

namespace meshwright::problem {

// A plan lists one configuration per copy; more copies than this are refused.
inline constexpr int64_t kMaxCopies = 10'000'000;

// Indices, table sizes, signs, cycles, repeats. Linear in the problem's size.
absl::Status Validate(const PlanProblem& problem);

// Whether `choice` has one allowed configuration per copy, one per tied node.
absl::Status ValidateChoice(const PlanProblem& problem, const Choice& choice);

}  // namespace meshwright::problem

#endif  // MESHWRIGHT_PLANNER_PROBLEM_VALIDATE_H_
