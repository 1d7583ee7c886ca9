// FindOptimisticPlan: the configurations of the fastest plan under a memory
// limit if every estimate is met at its low end.
//
// Concept: where memory is short, the number of programs may run out before
// every promising configuration is measured. Few plans lie just under the
// limit, so measured configurations must fit together. The optimistic plan
// names what to measure first. Once measured, it is the plan or shows that
// another one is. Where it is measured throughout, no other plan is faster.
// In → Out: a problem with measured and estimated configurations → the
// estimated ones of its plan; empty where no plan fits, or the search knows of
// none. Unknown configurations are no part of it.
// Errors: those of search::TrySolve.
#ifndef MESHWRIGHT_COORDINATOR_SELECTION_OPTIMISTIC_PLAN_H_
#define MESHWRIGHT_COORDINATOR_SELECTION_OPTIMISTIC_PLAN_H_

#include <cstdint>
#include <set>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/estimation/estimate.h"
#include "coordinator/selection/pruning.h"
#include "planner/problem/plan_problem.h"
#include "planner/search/search.h"

namespace meshwright::selection {

absl::StatusOr<std::set<estimation::ConfigurationRef>> FindOptimisticPlan(
    problem::PlanProblem problem, const Standings& standings,
    const std::vector<double>& margins, int64_t limit_bytes,
    const search::Options& options = {});

}  // namespace meshwright::selection

#endif  // MESHWRIGHT_COORDINATOR_SELECTION_OPTIMISTIC_PLAN_H_
