// Allowed: what a person's wishes leave of a problem.
//
// Concept: `fixed` and `forbidden` restrict a node's configurations; the
// headroom for the allocator reduces the memory limit. In → Out: a valid
// problem → configurations, rising; bytes.
#ifndef MESHWRIGHT_PLANNER_PROBLEM_ALLOWED_H_
#define MESHWRIGHT_PLANNER_PROBLEM_ALLOWED_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "planner/problem/plan_problem.h"

namespace meshwright::problem {

// Whether a person said anything about the node.
bool IsRestricted(const PlanProblem& problem, int node);

std::vector<int> ListAllowedConfigs(const PlanProblem& problem, int node);

// The memory limit less the headroom, rounded down.
std::optional<int64_t> ComputeUsableBytes(const PlanProblem& problem);

}  // namespace meshwright::problem

#endif  // MESHWRIGHT_PLANNER_PROBLEM_ALLOWED_H_
