// MinSum: the least sum of costs over a whole graph, and the smallest choice.
//
// Concept: components are independent. In each, every combination of the held
// variables is tried and the paths that it touches are solved again; a cut
// join is then a plain cost of its other end.
// In → Out: decomposed graph + costs → cost and configuration per slot, or
// nothing where everything is forbidden.
// Errors: none. When `until` says stop, the best so far comes back with
// is_complete false; each component's first combination is always tried.
#ifndef MESHWRIGHT_PLANNER_SEARCH_MIN_SUM_H_
#define MESHWRIGHT_PLANNER_SEARCH_MIN_SUM_H_

#include <functional>
#include <map>
#include <vector>

#include "planner/search/graph.h"
#include "planner/search/paths.h"

namespace meshwright::search {

using Until = std::function<bool()>;  // true: stop now

// The combinations of the held variables of some components, in rising order.
class Combinations {
 public:
  Combinations(const Graph& graph, const Costs& costs,
               std::vector<int> variables);

  const std::vector<int>& variables() const { return variables_; }
  int config(size_t i) const { return allowed_[i][at_[i]]; }
  bool Next();  // false after the last

  // No variable without an allowed configuration.
  bool IsPossible() const;

 private:
  std::vector<int> variables_;
  std::vector<std::vector<int>> allowed_;
  std::vector<size_t> at_;
};

// Costs of held variables, restricted, and of the far ends of cut joins.
std::map<int, std::vector<Cost>> HoldCosts(const Graph& graph,
                                           const Component& component,
                                           const Costs& costs,
                                           const Combinations& combination);

struct MinSumResult {
  Cost cost = kNever;
  std::vector<int> slots;  // meaningful where cost < kNever
  bool is_complete = true;
};

MinSumResult MinSum(const Graph& graph,
                    const std::vector<Component>& components,
                    const Costs& costs, const Until& until);

// A bound from below in one pass: cut joins cost nothing.
Cost RelaxedMinSum(const Graph& graph, const std::vector<Component>& components,
                   const Costs& costs);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_MIN_SUM_H_
