#include "planner/search/elimination/min_sum.h"

#include "planner/search/graph/path_solver.h"

namespace meshwright::search {

MinSumResult MinimizeSum(const Graph& graph,
                         const std::vector<Component>& components,
                         const Costs& costs, const WorkBudget& work,
                         const base::Deadline& deadline) {
  MinSumResult result{.cost = 0, .bound = 0};
  result.slots.resize(graph.first_slot.back());
  PowersCache powers;
  for (const Component& component : components) {
    ComponentResult part;
    if (component.path.has_value()) {
      const PathSolver solver(*component.path, costs, powers);
      part = {solver.cost(), solver.cost()};
      if (part.cost < kNever) solver.Choose(result.slots);
    } else {
      part = SolveComponent(graph, component, costs, powers, work, deadline,
                            result.slots);
    }
    result.cost = Clamp(result.cost + part.cost);
    result.bound = Clamp(result.bound + part.bound);
    if (result.bound >= kNever) return result;
  }
  return result;
}

}  // namespace meshwright::search
