// LikelyPlan: what the fastest plan under a memory limit would be made of.
//
// Concept: where memory is short, the number of programs may run out before
// every configuration of promise is measured, and few plans lie just under the
// limit: what is measured must fit together. The plan that is fastest under the
// limit if every estimate comes true at its low end names what to measure
// first; measured, it is either the plan or shows that another one is. Where
// that plan is measured throughout, nothing else can beat it.
// In -> Out: a problem with measured and estimated configurations -> those of
// its plan, as pairs (type, configuration); empty where none fits. What nothing
// is known of is no part of it.
// Errors: those of the search.
#ifndef MESHWRIGHT_COORDINATOR_SELECTION_OPTIMISTIC_PLAN_H_
#define MESHWRIGHT_COORDINATOR_SELECTION_OPTIMISTIC_PLAN_H_

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/selection/pruning.h"
#include "planner/problem/plan_problem.h"

namespace meshwright::selection {

absl::StatusOr<std::set<std::pair<int, int>>> LikelyPlan(
    problem::PlanProblem problem, const Standings& standings,
    const std::vector<double>& margins, int64_t limit_bytes);

}  // namespace meshwright::selection

#endif  // MESHWRIGHT_COORDINATOR_SELECTION_OPTIMISTIC_PLAN_H_
