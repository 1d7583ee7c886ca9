// Greedy: a plan of a component at once.
//
// Concept: the plan that is there before a component is made into a model.
// Making one takes longer than a caller may wait where tables are many and
// large. Each variable in turn takes what costs the minimum beside those before
// it; forbidden pairs may leave it nothing.
// In → Out: graph, component, costs → configurations by position in
// component.variables, and their cost.
#ifndef MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_GREEDY_H_
#define MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_GREEDY_H_

#include <vector>

#include "planner/search/graph/paths.h"
#include "planner/search/graph/run_matrices.h"

namespace meshwright::search {

struct GreedyPlan {
  Cost cost = kNever;  // kNever: it met a forbidden pair, or there is no plan
  std::vector<int> configs;
};

GreedyPlan Greedy(const Graph& graph, const Component& component,
                  const Costs& costs, RunMatrices& matrices);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_GREEDY_H_
