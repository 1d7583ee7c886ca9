#include "planner/search/elimination/greedy.h"

#include <algorithm>
#include <map>

namespace meshwright::search {

GreedyPlan Greedy(const Graph& graph, const Component& component,
                  const Costs& costs, RunMatrices& matrices) {
  std::map<int, size_t> turn;  // by variable of the graph
  for (const int v : component.variables) turn.try_emplace(v, turn.size());
  // Those that join a variable to one of an earlier turn.
  std::vector<std::vector<const Join*>> joins(turn.size());
  for (const int j : component.joins) {
    const Join& join = graph.joins[j];
    joins[std::max(turn[join.from], turn[join.to])].push_back(&join);
  }
  GreedyPlan plan{.cost = 0};
  for (size_t i = 0; i < joins.size(); ++i) {
    std::vector<Cost> beside =
        costs.unaries[graph.variables[component.variables[i]].unary];
    for (const Join* join : joins[i]) {
      const size_t from = turn[join->from];
      const size_t to = turn[join->to];
      const Link link{&matrices.Of(*join), /*transposed=*/to == i};
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
