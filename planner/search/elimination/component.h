// SolveComponent: the least cost of a component that is no path.
//
// Concept: the component becomes a model (model.h), is restricted (restrict.h)
// and eliminated (buckets.h). Where that takes more than a moment, a plan and a
// bound are guessed first (lower_bound.h) and values that neither needs are
// dropped. Tables may stay too large for the work budget. Labels (labels.h) of
// growing width then improve plan and bound, until both meet or the budget is
// spent. In → Out: graph, component, costs → least cost, a bound from below,
// equal if the search was exact, and the configurations of the slots.
#ifndef MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_COMPONENT_H_
#define MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_COMPONENT_H_

#include <vector>

#include "base/deadline.h"
#include "planner/search/elimination/table.h"
#include "planner/search/graph/paths.h"
#include "planner/search/graph/run.h"
#include "planner/search/graph/work_budget.h"

namespace meshwright::search {

struct ComponentResult {
  Cost cost = kNever;  // kNever: no choice was found
  Cost bound = 0;      // kNever: there is none
};

// Writes the component's slots where cost < kNever.
ComponentResult SolveComponent(const Graph& graph, const Component& component,
                               const Costs& costs, PowersCache& powers,
                               const WorkBudget& work,
                               const base::Deadline& deadline,
                               std::vector<int>& slots);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_COMPONENT_H_
