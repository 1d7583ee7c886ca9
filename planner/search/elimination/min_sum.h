// MinimizeSum: the least sum of costs over a whole graph, and the smallest
// choice.
//
// Concept: components are independent: paths by path_solver.h, others by
// component.h.
// In → Out: decomposed graph + costs → cost, bound and configuration per slot;
// kNever where everything is forbidden.
// Errors: none. Where the deadline has passed or the work budget is spent, the
// bound stays below the cost.
#ifndef MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_MIN_SUM_H_
#define MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_MIN_SUM_H_

#include <vector>

#include "base/deadline.h"
#include "planner/search/elimination/component.h"
#include "planner/search/graph/graph.h"
#include "planner/search/graph/paths.h"
#include "planner/search/graph/work_budget.h"

namespace meshwright::search {

struct MinSumResult {
  Cost cost = kNever;
  Cost bound = kNever;     // no choice costs less
  std::vector<int> slots;  // meaningful where cost < kNever
};

MinSumResult MinimizeSum(const Graph& graph,
                         const std::vector<Component>& components,
                         const Costs& costs, const WorkBudget& work,
                         const base::Deadline& deadline);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_MIN_SUM_H_
