#include "planner/search/graph/footprint.h"

#include <algorithm>
#include <optional>

namespace meshwright::search {

using problem::SaturatingAdd;

int64_t Footprint::peak() const { return SaturatingAdd(bytes, transient); }

Footprint ComputeFootprint(const Graph& graph, const std::vector<int>& slots) {
  Footprint footprint;
  for (size_t n = 0; n < graph.node_unary.size(); ++n) {
    const UnaryKind& kind = graph.unaries[graph.node_unary[n]];
    for (int64_t s = graph.first_slot[n]; s < graph.first_slot[n + 1]; ++s) {
      footprint.bytes = SaturatingAdd(footprint.bytes, kind.bytes[slots[s]]);
      footprint.transient =
          std::max(footprint.transient, kind.transient[slots[s]]);
    }
  }
  return footprint;
}

int64_t ComputeMinTransient(const Graph& graph) {
  int64_t min_transient = 0;
  for (const UnaryKind& kind : graph.unaries) {
    std::optional<int64_t> smallest;
    for (size_t c = 0; c < kind.time.size(); ++c) {
      if (kind.time[c] >= kNever) continue;
      smallest =
          std::min(smallest.value_or(kind.transient[c]), kind.transient[c]);
    }
    min_transient = std::max(min_transient, smallest.value_or(0));
  }
  return min_transient;
}

}  // namespace meshwright::search
