#include "planner/search/elimination/greedy.h"

#include <algorithm>
#include <map>

namespace meshwright::search {

GreedyPlan Greedy(const Graph& graph, const Component& component,
                  const Costs& costs, RunMatrices& matrices) {
  std::map<int, size_t> position;  // by variable of the graph
  for (const int v : component.variables)
    position.try_emplace(v, position.size());
  // Those that join a variable to one of an earlier position.
  std::vector<std::vector<const Join*>> joins(position.size());
  for (const int j : component.joins) {
    const Join& join = graph.joins[j];
    joins[std::max(position[join.from], position[join.to])].push_back(&join);
  }
  GreedyPlan plan{.cost = 0};
  for (size_t i = 0; i < joins.size(); ++i) {
    std::vector<Cost> beside =
        costs.unaries[graph.variables[component.variables[i]].unary];
    for (const Join* join : joins[i]) {
      const size_t from = position[join->from];
      const size_t to = position[join->to];
      const MatrixView link{&matrices.FindMatrix(*join),
                            /*transposed=*/to == i};
      const int other = plan.configs[std::min(from, to)];
      for (size_t c = 0; c < beside.size(); ++c) {
        beside[c] = Clamp(beside[c] + link.at(c, other));
      }
    }
    const auto best = std::min_element(beside.begin(), beside.end());
    plan.configs.push_back(static_cast<int>(best - beside.begin()));
    plan.cost = Clamp(plan.cost + *best);
  }
  return plan;
}

}  // namespace meshwright::search
