#include "planner/search/min_sum.h"

#include <algorithm>

#include "planner/search/path_solver.h"

namespace meshwright::search {
namespace {

// Solves one component into `result`, whose slots outside it stay.
class ComponentSolver {
 public:
  ComponentSolver(const Graph& graph, const Component& component,
                  const Costs& costs, const Until& until)
      : graph_(graph), component_(component), costs_(costs), until_(until) {}

  void Solve(MinSumResult& result) {
    Cost base = 0;
    const Overrides none;
    for (const Path& path : component_.paths) {
      if (path.is_touched) continue;
      const PathSolver solver(path, costs_, none, powers_);
      base = Clamp(base + solver.cost());
      solver.Choose(result.slots);
    }
    if (component_.held.empty()) {
      result.cost = Clamp(result.cost + base);
      return;
    }
    Combinations combination(graph_, costs_, component_.held);
    Cost best = kNever;
    if (combination.IsPossible()) {
      do {
        if (best < kNever && until_()) {
          result.is_complete = false;
          break;
        }
        Try(combination, best, result.slots);
      } while (combination.Next());
    }
    result.cost = Clamp(result.cost + Clamp(base + best));
  }

 private:
  void Try(const Combinations& combination, Cost& best,
           std::vector<int>& slots) {
    const Overrides overrides =
        HoldCosts(graph_, component_, costs_, combination);
    std::vector<PathSolver> solvers;
    Cost cost = 0;
    for (const Path& path : component_.paths) {
      if (!path.is_touched) continue;
      solvers.emplace_back(path, costs_, overrides, powers_);
      cost = Clamp(cost + solvers.back().cost());
      if (cost > best) return;
    }
    if (cost >= kNever) return;
    if (cost < best) {
      best = cost;
      for (const PathSolver& solver : solvers) solver.Choose(slots);
      return;
    }
    candidate_.resize(slots.size());
    for (const PathSolver& solver : solvers) solver.Choose(candidate_);
    if (!CandidateIsSmaller(slots)) return;
    ForEachTouchedSlot([&](int64_t slot) { slots[slot] = candidate_[slot]; });
  }

  template <typename Visit>
  void ForEachTouchedSlot(const Visit& visit) const {
    for (const Path& path : component_.paths) {
      if (!path.is_touched) continue;
      for (const Item& item : path.items) {
        for (int64_t i = 0; i < item.copies; ++i) {
          visit(item.first_slot + item.step * i);
        }
      }
    }
  }

  bool CandidateIsSmaller(const std::vector<int>& slots) const {
    int64_t first = slots.size();
    ForEachTouchedSlot([&](int64_t slot) {
      if (slots[slot] != candidate_[slot]) first = std::min(first, slot);
    });
    return first < static_cast<int64_t>(slots.size()) &&
           candidate_[first] < slots[first];
  }

  const Graph& graph_;
  const Component& component_;
  const Costs& costs_;
  const Until& until_;
  PowersCache powers_;
  std::vector<int> candidate_;
};

}  // namespace

Combinations::Combinations(const Graph& graph, const Costs& costs,
                           std::vector<int> variables)
    : variables_(std::move(variables)), at_(variables_.size(), 0) {
  for (const int v : variables_) {
    const std::vector<Cost>& unary = costs.unaries[graph.variables[v].unary];
    std::vector<int> allowed;
    for (size_t c = 0; c < unary.size(); ++c) {
      if (unary[c] < kNever) allowed.push_back(c);
    }
    allowed_.push_back(std::move(allowed));
  }
}

bool Combinations::IsPossible() const {
  return std::none_of(allowed_.begin(), allowed_.end(),
                      [](const auto& allowed) { return allowed.empty(); });
}

bool Combinations::Next() {
  for (size_t i = at_.size(); i > 0; --i) {
    if (++at_[i - 1] < allowed_[i - 1].size()) return true;
    at_[i - 1] = 0;
  }
  return false;
}

Overrides HoldCosts(const Graph& graph, const Component& component,
                    const Costs& costs, const Combinations& combination) {
  Overrides overrides;
  std::map<int, int> held;
  for (size_t i = 0; i < combination.variables().size(); ++i) {
    held[combination.variables()[i]] = combination.config(i);
  }
  const auto unary = [&](int v) -> std::vector<Cost>& {
    return overrides.try_emplace(v, costs.unaries[graph.variables[v].unary])
        .first->second;
  };
  for (const int j : component.cut) {
    const Join& join = graph.joins[j];
    const bool from_held = held.contains(join.from);
    const Link link{&costs.matrices[join.matrix], !from_held};
    const int at = held.at(from_held ? join.from : join.to);
    std::vector<Cost>& far = unary(from_held ? join.to : join.from);
    for (size_t c = 0; c < far.size(); ++c) {
      far[c] = Clamp(far[c] + link.at(at, c));
    }
  }
  for (const auto& [v, config] : held) {
    std::vector<Cost>& own = unary(v);
    for (size_t c = 0; c < own.size(); ++c) {
      if (static_cast<int>(c) != config) own[c] = kNever;
    }
  }
  return overrides;
}

MinSumResult MinSum(const Graph& graph,
                    const std::vector<Component>& components,
                    const Costs& costs, const Until& until) {
  MinSumResult result{.cost = 0};
  result.slots.resize(graph.first_slot.back());
  for (const Component& component : components) {
    ComponentSolver(graph, component, costs, until).Solve(result);
  }
  return result;
}

Cost RelaxedMinSum(const Graph& graph, const std::vector<Component>& components,
                   const Costs& costs) {
  PowersCache powers;
  const Overrides none;
  Cost cost = 0;
  for (const Component& component : components) {
    for (const Path& path : component.paths) {
      cost = Clamp(cost + PathSolver(path, costs, none, powers).cost());
    }
  }
  return cost;
}

}  // namespace meshwright::search
