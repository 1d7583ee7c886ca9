#include "planner/search/paths.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "planner/search/holding.h"

namespace meshwright::search {
namespace {

void Append(Path& path, const Item& item) {
  if (!path.items.empty()) {
    Item& last = path.items.back();
    const bool equal =
        last.unary == item.unary && !last.variable && !item.variable &&
        last.step == item.step &&
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

bool Ascends(const Path& path) {
  int64_t before = -1;
  for (const Item& item : path.items) {
    if (item.first_slot <= before) return false;
    if (item.copies > 1 && item.step < 0) return false;
    before = item.first_slot + item.step * (item.copies - 1);
  }
  return true;
}

class Decomposer {
 public:
  explicit Decomposer(const Graph& graph)
      : graph_(graph),
        joins_of_(graph.variables.size()),
        marks_{std::vector<bool>(graph.variables.size()),
               std::vector<bool>(graph.variables.size())},
        is_touched_(graph.variables.size(), false),
        is_cut_(graph.joins.size(), false),
        walked_(graph.variables.size(), false) {
    for (size_t j = 0; j < graph.joins.size(); ++j) {
      joins_of_[graph.joins[j].from].push_back(j);
      joins_of_[graph.joins[j].to].push_back(j);
    }
  }

  absl::StatusOr<std::vector<Component>> Run() {
    std::vector<Component> components;
    std::vector<bool> seen(graph_.variables.size(), false);
    for (size_t v = 0; v < graph_.variables.size(); ++v) {
      if (seen[v]) continue;
      ASSIGN_OR_RETURN(Component component, Take(Reach(v, seen)));
      components.push_back(std::move(component));
    }
    return components;
  }

 private:
  std::vector<int> Reach(int start, std::vector<bool>& seen) const {
    std::vector<int> found = {start};
    seen[start] = true;
    for (size_t i = 0; i < found.size(); ++i) {
      for (const int j : joins_of_[found[i]]) {
        for (const int end : {graph_.joins[j].from, graph_.joins[j].to}) {
          if (!seen[end]) found.push_back(end);
          seen[end] = true;
        }
      }
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  absl::StatusOr<Component> Take(const std::vector<int>& variables) {
    const auto held =
        ChooseHeld(graph_, joins_of_, variables, kMostCombinations, marks_);
    if (!held.has_value()) {
      return absl::UnimplementedError(absl::StrCat(
          "the edges off the chain need more than ", kMostCombinations,
          " combinations of configurations, the limit of the exact search"));
    }
    Component component{.held = held->variables,
                        .combinations = held->combinations};
    for (const int v : component.held) is_touched_[v] = true;
    for (const int v : component.held) {
      for (const int j : joins_of_[v]) {
        const Join& join = graph_.joins[j];
        if (join.is_run || is_cut_[j]) continue;
        is_cut_[j] = is_touched_[join.from] = is_touched_[join.to] = true;
        component.cut.push_back(j);
      }
    }
    for (const int v : variables) {
      if (!walked_[v] && Active(v).size() < 2) {
        component.paths.push_back(Oriented(v));
      }
    }
    return component;
  }

  std::vector<int> Active(int v) const {
    std::vector<int> active;
    for (const int j : joins_of_[v]) {
      if (!is_cut_[j]) active.push_back(j);
    }
    return active;
  }

  // The path that starts at `v`, turned round if only that puts it in order.
  Path Oriented(int v) {
    int end = v;
    Path path = Walk(v, &end);
    if (path.in_order || end == v) return path;
    Path back = Walk(end, &end);
    return back.in_order ? back : path;
  }

  Path Walk(int v, int* end) {
    Path path;
    std::optional<int> came;
    while (true) {
      walked_[v] = true;
      *end = v;
      Item item = At(v);
      const Join* join = nullptr;
      for (const int j : Active(v)) {
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
    path.in_order = Ascends(path);
    for (const Item& item : path.items) {
      path.is_touched = path.is_touched || item.variable.has_value();
    }
    return path;
  }

  Item At(int v) {
    Item item{.unary = graph_.variables[v].unary,
              .first_slot = graph_.variables[v].slot,
              .step = came_step_};
    came_step_ = 1;
    if (is_touched_[v]) item.variable = v;
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
  Marks marks_;
  std::vector<bool> is_touched_;
  std::vector<bool> is_cut_;
  std::vector<bool> walked_;
  int came_step_ = 1;
};

}  // namespace

absl::StatusOr<std::vector<Component>> Decompose(const Graph& graph) {
  return Decomposer(graph).Run();
}

}  // namespace meshwright::search
