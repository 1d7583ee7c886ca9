#include "planner/search/constrained/min_memory.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "planner/search/graph/footprint.h"

namespace meshwright::search {
namespace {

using problem::SaturatingAdd;

// The needs of every copy when it is chosen for itself.
class SeparateCopies {
 public:
  explicit SeparateCopies(const Graph& graph)
      : graph_(graph), copies_(graph.unaries.size(), 0) {
    for (const UnaryKind& kind : graph.unaries) AddSteps(kind);
    for (size_t n = 0; n < graph.node_unary.size(); ++n) {
      copies_[graph.node_unary[n]] +=
          graph.first_slot[n + 1] - graph.first_slot[n];
    }
    for (const Join& join : graph.joins) {
      is_alone_ = is_alone_ && !graph.matrices->extents[join.matrix].has_never;
    }
  }

  // Whether the copies may be: no pair is forbidden.
  bool is_alone() const { return is_alone_; }

  // A bound from below with no transient above `max_transient`.
  int64_t Bytes(int64_t max_transient) const {
    int64_t bytes = 0;
    for (size_t u = 0; u < copies_.size(); ++u) {
      const Step* const step = Find(u, max_transient);
      if (step == nullptr) return std::numeric_limits<int64_t>::max();
      bytes = SaturatingAdd(
          bytes, problem::SaturatingMultiply(copies_[u], step->bytes));
    }
    return bytes;
  }

  MinSumResult Solve(int64_t max_transient) const {
    MinSumResult result;
    result.cost = result.bound = Clamp(Bytes(max_transient));
    result.slots.resize(graph_.first_slot.back());
    for (size_t n = 0; n < graph_.node_unary.size(); ++n) {
      const Step* const step = Find(graph_.node_unary[n], max_transient);
      std::fill(result.slots.begin() + graph_.first_slot[n],
                result.slots.begin() + graph_.first_slot[n + 1],
                step == nullptr ? 0 : step->config);
    }
    return result;
  }

 private:
  // A configuration that needs fewer bytes than all of a smaller transient.
  struct Step {
    int64_t transient = 0;
    int64_t bytes = 0;
    int config = 0;
  };

  void AddSteps(const UnaryKind& kind) {
    std::vector<Step> all;
    for (size_t c = 0; c < kind.time.size(); ++c) {
      if (kind.time[c] >= kNever) continue;
      all.push_back({kind.transient[c], kind.bytes[c], static_cast<int>(c)});
    }
    std::sort(all.begin(), all.end(), [](const Step& a, const Step& b) {
      return std::tie(a.transient, a.bytes, a.config) <
             std::tie(b.transient, b.bytes, b.config);
    });
    steps_.emplace_back();
    for (const Step& step : all) {
      if (!steps_.back().empty() && step.bytes >= steps_.back().back().bytes) {
        continue;
      }
      steps_.back().push_back(step);
    }
  }

  // Of fewest bytes, then of the smallest transient; null if there is none.
  const Step* Find(int unary, int64_t max_transient) const {
    const std::vector<Step>& steps = steps_[unary];
    const auto end = std::upper_bound(
        steps.begin(), steps.end(), max_transient,
        [](int64_t bound, const Step& step) { return bound < step.transient; });
    return end == steps.begin() ? nullptr : &*(end - 1);
  }

  const Graph& graph_;
  std::vector<int64_t> copies_;           // by unary kind
  std::vector<std::vector<Step>> steps_;  // rising in transients
  bool is_alone_ = true;
};

}  // namespace

Costs ComputeByteCosts(const Graph& graph, int64_t max_transient) {
  Costs costs = TimeCosts(graph);
  for (size_t u = 0; u < costs.unaries.size(); ++u) {
    const UnaryKind& kind = graph.unaries[u];
    for (size_t c = 0; c < kind.time.size(); ++c) {
      const bool allowed =
          kind.time[c] < kNever && kind.transient[c] <= max_transient;
      costs.unaries[u][c] = allowed ? Clamp(kind.bytes[c]) : kNever;
    }
  }
  MatrixSet matrices = *costs.matrices;
  for (Matrix& matrix : matrices.all) {
    for (Cost& entry : matrix.entries) entry = entry < kNever ? 0 : kNever;
  }
  for (Extent& extent : matrices.extents) {
    extent.min = extent.min < kNever ? 0 : kNever;
    extent.max = 0;
  }
  costs.matrices = std::make_shared<const MatrixSet>(std::move(matrices));
  return costs;
}

MinMemory FindMinMemory(const Graph& graph,
                        const std::vector<Component>& components,
                        int64_t limit_bytes, const WorkBudget& work,
                        const base::Deadline& deadline) {
  std::set<int64_t> transients;
  for (const UnaryKind& kind : graph.unaries) {
    transients.insert(kind.transient.begin(), kind.transient.end());
  }
  const int64_t min_transient = ComputeMinTransient(graph);
  const SeparateCopies separate(graph);
  MinMemory best;
  bool is_first = true;
  // From the largest transient down; a plan's own transient is the next bound.
  for (auto bound = transients.rbegin(); bound != transients.rend();) {
    // Whether any plan fits is soon known where the copies may be alone.
    const bool may_stop = best.peak_bytes <= limit_bytes ||
                          (!best.slots.empty() && !separate.is_alone());
    if (may_stop && deadline.HasPassed()) {
      best.is_exact = false;
      break;
    }
    // A plan whose largest transient is this one needs that much.
    if (SaturatingAdd(separate.Bytes(*bound), *bound) >= best.peak_bytes) {
      ++bound;
      continue;
    }
    MinSumResult result =
        separate.is_alone()
            ? separate.Solve(*bound)
            : MinimizeSum(graph, components, ComputeByteCosts(graph, *bound),
                          work, deadline);
    if (is_first) {
      best.bound_bytes = SaturatingAdd(result.bound, min_transient);
      is_first = false;
    }
    best.is_exact = best.is_exact && result.bound == result.cost;
    if (result.cost >= kNever) break;
    const Footprint footprint = ComputeFootprint(graph, result.slots);
    if (footprint.peak() < best.peak_bytes) {
      best.peak_bytes = footprint.peak();
      best.slots = std::move(result.slots);
    }
    while (bound != transients.rend() && *bound >= footprint.transient) {
      ++bound;
    }
  }
  if (best.is_exact) best.bound_bytes = best.peak_bytes;
  return best;
}

}  // namespace meshwright::search
