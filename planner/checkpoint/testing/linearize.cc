#include "planner/checkpoint/testing/linearize.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace meshwright::checkpoint {
namespace {

using Graph = std::vector<GraphNode>;

// The sizes and times of a graph sum below 63 bits.
constexpr int64_t kMaxLinkedBytes = int64_t{1} << 61;

std::string Describe(const Graph& graph, int node) {
  return absl::StrCat("node ", node, " (", graph[node].name, ")");
}

absl::Status Check(const Graph& graph) {
  int64_t bytes = 0;
  int64_t time = 0;
  for (int v = 0; v < static_cast<int>(graph.size()); ++v) {
    const GraphNode& node = graph[v];
    for (const int parent : node.parents) {
      if (parent >= 0 && parent < static_cast<int>(graph.size())) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("parents of ", Describe(graph, v), " name ", parent,
                       ", but the graph has ", graph.size(), " nodes"));
    }
    for (const auto& [field, figure] :
         {std::pair("forward", node.forward.count()),
          std::pair("backward", node.backward.count()),
          std::pair("output_bytes", node.output_bytes),
          std::pair("saved_bytes", node.saved_bytes),
          std::pair("forward_transient_bytes", node.forward_transient_bytes),
          std::pair("backward_transient_bytes",
                    node.backward_transient_bytes)}) {
      if (figure >= 0) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          field, " of ", Describe(graph, v), " is negative: ", figure));
    }
    for (const int64_t figure :
         {node.output_bytes, node.saved_bytes, node.forward_transient_bytes,
          node.backward_transient_bytes}) {
      bytes = problem::SaturatingAdd(bytes, figure);
    }
    time = problem::SaturatingAdd(time, node.forward.count());
    time = problem::SaturatingAdd(time, node.backward.count());
    if (bytes > kMaxLinkedBytes || time > problem::kMaxTime.count()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the figures of the nodes up to ", Describe(graph, v),
                       " sum to more than the planner can add up"));
    }
  }
  return {};
}

// Parents first, the smallest index first.
absl::StatusOr<std::vector<int>> Order(
    const Graph& graph, const std::vector<std::vector<int>>& children) {
  std::vector<int> waiting(graph.size());
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (size_t v = 0; v < graph.size(); ++v) {
    waiting[v] = static_cast<int>(graph[v].parents.size());
    if (waiting[v] == 0) ready.push(static_cast<int>(v));
  }
  std::vector<int> order;
  while (!ready.empty()) {
    const int v = ready.top();
    ready.pop();
    order.push_back(v);
    for (const int child : children[v]) {
      if (--waiting[child] == 0) ready.push(child);
    }
  }
  for (size_t v = 0; v < graph.size(); ++v) {
    if (waiting[v] == 0) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        Describe(graph, static_cast<int>(v)), " is on or behind a cycle"));
  }
  return order;
}

class Grouping {
 public:
  explicit Grouping(const Graph& graph)
      : graph_(graph), children_(graph.size()), uses_left_(graph.size(), 0) {
    for (size_t v = 0; v < graph.size(); ++v) {
      for (const int parent : graph[v].parents) {
        children_[parent].push_back(static_cast<int>(v));
      }
    }
  }

  absl::StatusOr<Linearized> Run() {
    ASSIGN_OR_RETURN(const std::vector<int> order, Order(graph_, children_));
    FindCommon(order);
    Group(order);
    if (result_.groups.empty()) {
      return absl::InvalidArgumentError(
          "the graph has no node that computes; give at least one");
    }
    result_.chain.act_bytes.push_back(StandingBytes());
    for (size_t g = 0; g < result_.groups.size(); ++g) {
      AddStage(result_.groups[g], g + 1 == result_.groups.size());
    }
    RETURN_IF_ERROR(Validate(result_.chain));
    return std::move(result_);
  }

 private:
  // Lemma 5.4.
  void FindCommon(const std::vector<int>& order) {
    result_.common.resize(graph_.size());
    for (const int v : order) {
      const auto& parents = graph_[v].parents;
      result_.common[v] =
          graph_[v].common ||
          (!parents.empty() && !graph_[v].placeholder &&
           std::all_of(parents.begin(), parents.end(),
                       [&](int parent) { return result_.common[parent]; }));
    }
  }

  bool Counts(int v) const {
    return !graph_[v].placeholder && !result_.common[v];
  }

  bool MayEnd(int v) const {
    return std::none_of(
        children_[v].begin(), children_[v].end(), [&](int child) {
          return graph_[child].in_place || graph_[child].communication;
        });
  }

  void Group(const std::vector<int>& order) {
    std::vector<int> group;
    int64_t awaited = 0;  // uses to come of values that count
    for (const int v : order) {
      if (graph_[v].placeholder) continue;
      for (const int parent : graph_[v].parents) {
        if (Counts(parent)) --awaited;
      }
      group.push_back(v);
      // A common node's value is there anyhow: it ends nothing.
      if (awaited == 0 && Counts(v) && MayEnd(v)) {
        result_.groups.push_back(std::move(group));
        group.clear();
      }
      if (Counts(v)) awaited += static_cast<int64_t>(children_[v].size());
    }
    if (group.empty()) return;
    // Nodes after the last end, such as common nodes, belong to it, unless one
    // uses a value of its own.
    const bool own = std::any_of(group.begin(), group.end(),
                                 [&](int v) { return Counts(v); });
    if (own || result_.groups.empty()) {
      result_.groups.push_back(std::move(group));
    } else {
      auto& last = result_.groups.back();
      last.insert(last.end(), group.begin(), group.end());
    }
  }

  int64_t StandingBytes() const {
    int64_t bytes = 0;
    for (size_t v = 0; v < graph_.size(); ++v) {
      if (!Counts(static_cast<int>(v))) bytes += graph_[v].output_bytes;
    }
    return bytes;
  }

  // The nodes whose outputs a group hands on.
  std::vector<bool> Ends(const std::vector<int>& group, bool last) const {
    std::vector<bool> ends(group.size(), false);
    std::optional<size_t> end;
    for (size_t i = 0; i < group.size(); ++i) {
      if (!Counts(group[i])) continue;
      end = i;
      ends[i] = last && !HasChildThatComputes(group[i]);
    }
    if (end.has_value()) ends[*end] = true;
    return ends;
  }

  bool HasChildThatComputes(int v) const {
    return std::any_of(children_[v].begin(), children_[v].end(),
                       [&](int child) { return !graph_[child].placeholder; });
  }

  void AddStage(const std::vector<int>& group, bool last) {
    const std::vector<bool> ends = Ends(group, last);
    Picoseconds forward{0};
    Picoseconds backward{0};
    int64_t output = 0;
    int64_t saved = 0;
    int64_t backward_transient = 0;
    for (size_t i = 0; i < group.size(); ++i) {
      const GraphNode& node = graph_[group[i]];
      forward += node.forward;
      backward += node.backward;
      if (ends[i]) output += node.output_bytes;
      saved += ends[i] ? std::max(node.saved_bytes, node.output_bytes)
                       : node.saved_bytes;
      backward_transient =
          std::max(backward_transient, node.backward_transient_bytes);
    }
    Chain& chain = result_.chain;
    chain.forward.push_back(forward);
    chain.backward.push_back(backward);
    chain.act_bytes.push_back(output);
    chain.saved_bytes.push_back(saved);
    chain.forward_transient_bytes.push_back(LiveInside(group, ends));
    chain.backward_transient_bytes.push_back(backward_transient);
  }

  // The most that the values inside a group and its nodes' transients take at
  // once. Values that are saved are among these and among the saved, so this is
  // enough whether the group is saved or not.
  int64_t LiveInside(const std::vector<int>& group,
                     const std::vector<bool>& ends) {
    int64_t live = 0;
    int64_t max_live = 0;
    for (size_t i = 0; i < group.size(); ++i) {
      const int v = group[i];
      const bool inner = Counts(v) && !ends[i];
      if (inner) {
        live += graph_[v].output_bytes;
        uses_left_[v] = static_cast<int>(children_[v].size());
      }
      max_live = std::max(max_live, live + graph_[v].forward_transient_bytes);
      if (inner && uses_left_[v] == 0) live -= graph_[v].output_bytes;
      for (const int parent : graph_[v].parents) {
        if (uses_left_[parent] > 0 && --uses_left_[parent] == 0) {
          live -= graph_[parent].output_bytes;
        }
      }
    }
    return max_live;
  }

  const Graph& graph_;
  std::vector<std::vector<int>> children_;
  std::vector<int> uses_left_;  // of a value live inside its group
  Linearized result_;
};

}  // namespace

absl::StatusOr<Linearized> Linearize(const Graph& graph) {
  RETURN_IF_ERROR(Check(graph));
  return Grouping(graph).Run();
}

}  // namespace meshwright::checkpoint
