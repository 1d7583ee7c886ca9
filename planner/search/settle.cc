#include "planner/search/settle.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace meshwright::search {
namespace {

constexpr size_t kMostTried = 8;  // of a component's variables
constexpr int kMostSettled = 2;

// What keeps the variables left from being paths: joins too many.
class Cut {
 public:
  explicit Cut(const Graph& graph)
      : graph_(graph),
        is_settled_(graph.variables.size(), false),
        joins_(graph.variables.size()),
        root_(graph.variables.size()) {}

  void Settle(int v, bool settled) { is_settled_[v] = settled; }

  int64_t Excess(const Component& component) {
    for (const int v : component.variables) {
      joins_[v] = 0;
      root_[v] = v;
    }
    int64_t excess = 0;
    for (const int j : component.joins) {
      const Join& join = graph_.joins[j];
      if (is_settled_[join.from] || is_settled_[join.to]) continue;
      for (const int v : {join.from, join.to}) {
        if (++joins_[v] > 2) ++excess;
      }
      const int from = RootOf(join.from);
      const int to = RootOf(join.to);
      if (from == to) ++excess;
      root_[from] = to;
    }
    return excess;
  }

 private:
  int RootOf(int v) {
    while (root_[v] != v) v = root_[v] = root_[root_[v]];
    return v;
  }

  const Graph& graph_;
  std::vector<bool> is_settled_;
  // Of the component looked at, by variable.
  std::vector<int> joins_;
  std::vector<int> root_;
};

// Those of most joins, then of fewest configurations; of no run.
std::vector<int> Candidates(const Graph& graph, const Component& component) {
  std::map<int, int> joins;
  std::vector<bool> has_run(graph.variables.size(), false);
  for (const int j : component.joins) {
    const Join& join = graph.joins[j];
    for (const int v : {join.from, join.to}) {
      ++joins[v];
      if (join.is_run) has_run[v] = true;
    }
  }
  std::vector<int> found;
  for (const int v : component.variables) {
    if (!has_run[v]) found.push_back(v);
  }
  const auto rank = [&](int v) {
    return std::tuple(-joins[v],
                      graph.unaries[graph.variables[v].unary].allowed, v);
  };
  std::sort(found.begin(), found.end(),
            [&](int a, int b) { return rank(a) < rank(b); });
  if (found.size() > kMostTried) found.resize(kMostTried);
  return found;
}

// The graph while joins become costs of single variables.
class Settler {
 public:
  explicit Settler(const Graph& graph) : graph_(graph) {}

  Graph Run(int variable, int config) {
    std::vector<Join> kept;
    std::vector<Join> gone;
    for (const Join& join : graph_.joins) {
      const bool is_its = join.from == variable || join.to == variable;
      (is_its ? gone : kept).push_back(join);
    }
    graph_.joins = std::move(kept);
    for (const Join& join : gone) {
      const bool is_row = join.from == variable;
      const int other = is_row ? join.to : join.from;
      LeaveRun(other);
      graph_.variables[other].unary =
          WithJoin(graph_.variables[other].unary, join.matrix, is_row, config);
    }
    graph_.variables[variable].unary =
        Only(graph_.variables[variable].unary, config);
    SplitNodes();
    return std::move(graph_);
  }

 private:
  // The copies between the ends of a run are of the kind of its ends; so the
  // copy beside an end that changes becomes a variable, and an end itself.
  void LeaveRun(int v) {
    for (size_t j = 0; j < graph_.joins.size(); ++j) {
      Join& run = graph_.joins[j];
      if (!run.is_run || run.between == 0) continue;
      if (run.from != v && run.to != v) continue;
      const bool is_first = run.from == v;
      const int beside = static_cast<int>(graph_.variables.size());
      Variable copy = graph_.variables[v];
      copy.slot += is_first ? 1 : -1;
      Join step = run;
      step.between = 0;
      (is_first ? step.to : step.from) = beside;
      (is_first ? run.from : run.to) = beside;
      --run.between;
      graph_.variables.push_back(copy);
      graph_.joins.push_back(step);
      return;
    }
  }

  int WithJoin(int unary, int matrix, bool is_row, int config) {
    const auto [entry, is_new] = joined_.try_emplace(
        {unary, matrix, is_row}, static_cast<int>(graph_.unaries.size()));
    if (!is_new) return entry->second;
    UnaryKind kind = graph_.unaries[unary];
    const Link link{&graph_.matrix(matrix), !is_row};
    kind.allowed = 0;
    for (int c = 0; c < static_cast<int>(kind.time.size()); ++c) {
      kind.time[c] = Clamp(kind.time[c] + link.at(config, c));
      kind.allowed += kind.time[c] < kNever ? 1 : 0;
    }
    graph_.unaries.push_back(std::move(kind));
    return entry->second;
  }

  int Only(int unary, int config) {
    UnaryKind kind = graph_.unaries[unary];
    for (int c = 0; c < static_cast<int>(kind.time.size()); ++c) {
      if (c != config) kind.time[c] = kNever;
    }
    kind.allowed = kind.time[config] < kNever ? 1 : 0;
    graph_.unaries.push_back(std::move(kind));
    return static_cast<int>(graph_.unaries.size()) - 1;
  }

  // A node's copies are of one kind: what differs becomes a node of its own.
  void SplitNodes() {
    std::map<int64_t, int> kinds;  // by slot
    for (const Variable& variable : graph_.variables) {
      kinds[variable.slot] = variable.unary;
    }
    std::vector<int> unaries;
    std::vector<int64_t> first_slots;
    for (size_t n = 0; n < graph_.node_unary.size(); ++n) {
      const int64_t end = graph_.first_slot[n + 1];
      const auto add = [&](int64_t slot, int unary) {
        const bool is_first = slot == graph_.first_slot[n];
        if (slot == end || (!is_first && unaries.back() == unary)) return;
        first_slots.push_back(slot);
        unaries.push_back(unary);
      };
      // What lies between two variables is as the node was.
      int64_t next = graph_.first_slot[n];
      auto kind = kinds.lower_bound(next);
      for (; kind != kinds.end() && kind->first < end; ++kind) {
        if (kind->first > next) add(next, graph_.node_unary[n]);
        add(kind->first, kind->second);
        next = kind->first + 1;
      }
      add(next, graph_.node_unary[n]);
    }
    first_slots.push_back(graph_.first_slot.back());
    graph_.node_unary = std::move(unaries);
    graph_.first_slot = std::move(first_slots);
  }

  Graph graph_;
  std::map<std::tuple<int, int, bool>, int> joined_;
};

}  // namespace

std::vector<int> VariablesToSettle(const Graph& graph,
                                   const std::vector<Component>& components,
                                   int64_t most_settings) {
  std::vector<int> chosen;
  Cut cut(graph);
  int64_t settings = 1;
  for (const Component& component : components) {
    if (component.path.has_value()) continue;
    int64_t excess = cut.Excess(component);
    while (excess > 0) {
      if (static_cast<int>(chosen.size()) == kMostSettled) return {};
      std::tuple<int64_t, int, int> best = {excess, 0, 0};
      for (const int v : Candidates(graph, component)) {
        const int allowed = graph.unaries[graph.variables[v].unary].allowed;
        if (allowed == 0 || allowed > most_settings / settings) continue;
        cut.Settle(v, true);
        best = std::min(best, {cut.Excess(component), allowed, v});
        cut.Settle(v, false);
      }
      const auto [left, allowed, v] = best;
      if (left == excess) return {};
      cut.Settle(v, true);
      chosen.push_back(v);
      settings *= allowed;
      excess = left;
    }
  }
  return chosen;
}

Graph Settle(const Graph& graph, int variable, int config) {
  return Settler(graph).Run(variable, config);
}

std::vector<Graph> SettleAll(const Graph& graph,
                             const std::vector<int>& variables) {
  std::vector<Graph> graphs = {graph};
  for (const int v : variables) {
    std::vector<Graph> next;
    for (const Graph& settled : graphs) {
      const UnaryKind& kind = settled.unaries[settled.variables[v].unary];
      for (int c = 0; c < static_cast<int>(kind.time.size()); ++c) {
        if (kind.time[c] < kNever) next.push_back(Settle(settled, v, c));
      }
    }
    graphs = std::move(next);
  }
  return graphs;
}

}  // namespace meshwright::search
