// Greedy: a plan of a component at once, and a bound at once.
//
// Concept: what is known before a component is made into a model, which takes
// longer than a caller may wait where tables are many and large. Variable by
// variable, what costs least beside those before; forbidden pairs may stand in
// its way. The bound adds up every variable and every join at its least.
// In → Out: graph, component, costs → configurations by place in
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

// kNever: there is no plan.
Cost LeastSum(const Graph& graph, const Component& component,
              const Costs& costs);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_GREEDY_H_
