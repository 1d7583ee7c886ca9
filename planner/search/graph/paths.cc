#include "planner/search/graph/paths.h"

#include <algorithm>

namespace meshwright::search {
namespace {

void Append(Path& path, const Item& item) {
  if (!path.items.empty()) {
    Item& last = path.items.back();
    const bool equal =
        last.unary == item.unary && last.step == item.step &&
        last.first_slot + last.step * last.copies == item.first_slot &&
        (!last.inner || last.inner == last.next) &&
        (!item.inner || item.inner == last.next);
    if (equal) {
      last.inner = last.next;
      last.next = item.next;
      last.copies += item.copies;
      return;
    }
  }
  path.items.push_back(item);
}

class Decomposer {
 public:
  explicit Decomposer(const Graph& graph)
      : graph_(graph), joins_of_(graph.variables.size()) {
    for (size_t j = 0; j < graph.joins.size(); ++j) {
      joins_of_[graph.joins[j].from].push_back(j);
      joins_of_[graph.joins[j].to].push_back(j);
    }
  }

  std::vector<Component> Run() {
    std::vector<Component> components;
    std::vector<bool> seen(graph_.variables.size(), false);
    for (size_t v = 0; v < graph_.variables.size(); ++v) {
      if (!seen[v]) components.push_back(Reach(v, seen));
    }
    return components;
  }

 private:
  Component Reach(int start, std::vector<bool>& seen) {
    Component found{.variables = {start}};
    seen[start] = true;
    size_t max_joins = 0;
    std::optional<int> end;
    for (size_t i = 0; i < found.variables.size(); ++i) {
      const std::vector<int>& joins = joins_of_[found.variables[i]];
      max_joins = std::max(max_joins, joins.size());
      for (const int j : joins) {
        const Join& join = graph_.joins[j];
        if (join.from == found.variables[i]) found.joins.push_back(j);
        for (const int other : {join.from, join.to}) {
          if (!seen[other]) found.variables.push_back(other);
          seen[other] = true;
        }
      }
    }
    std::sort(found.variables.begin(), found.variables.end());
    std::sort(found.joins.begin(), found.joins.end());
    if (max_joins > 2 || found.joins.size() == found.variables.size()) {
      return found;
    }
    for (const int v : found.variables) {
      if (joins_of_[v].size() < 2 && !end.has_value()) end = v;
    }
    found.path = Walk(*end);
    return found;
  }

  // The path that starts at `v`.
  Path Walk(int v) {
    Path path;
    std::optional<int> came;
    while (true) {
      Item item = At(v);
      const Join* join = nullptr;
      for (const int j : joins_of_[v]) {
        if (came == j) continue;
        join = &graph_.joins[j];
        came = j;
        break;
      }
      if (join == nullptr) {
        Append(path, item);
        break;
      }
      const bool backwards = join->to == v;
      item.next = MatrixUse{join->matrix, backwards};
      if (join->is_run) item.step = backwards ? -1 : 1;
      Append(path, item);
      if (join->between > 0) Append(path, Between(*join, backwards));
      v = backwards ? join->from : join->to;
      if (join->is_run) {
        // The run's far end goes the run's way, so that it can be folded in.
        came_step_ = backwards ? -1 : 1;
      }
    }
    return path;
  }

  Item At(int v) {
    Item item{.unary = graph_.variables[v].unary,
              .first_slot = graph_.variables[v].slot,
              .step = came_step_};
    came_step_ = 1;
    return item;
  }

  Item Between(const Join& join, bool backwards) const {
    const MatrixUse use{join.matrix, backwards};
    const int step = backwards ? -1 : 1;
    const Variable& from = graph_.variables[backwards ? join.to : join.from];
    Item item{.unary = from.unary,
              .first_slot = from.slot + step,
              .step = step,
              .copies = join.between,
              .next = use};
    if (item.copies > 1) item.inner = use;
    return item;
  }

  const Graph& graph_;
  std::vector<std::vector<int>> joins_of_;
  int came_step_ = 1;
};

}  // namespace

std::vector<Component> Decompose(const Graph& graph) {
  return Decomposer(graph).Run();
}

}  // namespace meshwright::search
