#include "planner/search/memory.h"

#include <algorithm>
#include <set>

namespace meshwright::search {
namespace {

using problem::SaturatingAdd;

constexpr int kPriceShift = 20;  // a mebibyte
constexpr int64_t kDearest = int64_t{1} << 60;
constexpr int kMostRounds = 60;

// A plan as a point: its line over prices is time + price * bytes.
struct Point {
  Cost time;
  int64_t bytes;
};

int64_t CrossingPrice(const Point& fast, const Point& small) {
  const __int128 rise = static_cast<__int128>(small.time - fast.time)
                        << kPriceShift;
  return std::min<__int128>(rise / (fast.bytes - small.bytes), kDearest);
}

Cost TimeOf(const Graph& graph, const MinSumResult& result, int64_t price) {
  Cost priced = 0;
  for (size_t n = 0; n < graph.node_unary.size(); ++n) {
    const UnaryKind& kind = graph.unaries[graph.node_unary[n]];
    for (int64_t s = graph.first_slot[n]; s < graph.first_slot[n + 1]; ++s) {
      priced += PriceOf(price, kind.bytes[result.slots[s]]);
    }
  }
  return result.cost - priced;
}

}  // namespace

int64_t Footprint::peak() const { return SaturatingAdd(bytes, transient); }

Footprint FootprintOf(const Graph& graph, const std::vector<int>& slots) {
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

int64_t LeastTransient(const Graph& graph) {
  int64_t least = 0;
  for (const UnaryKind& kind : graph.unaries) {
    std::optional<int64_t> smallest;
    for (size_t c = 0; c < kind.time.size(); ++c) {
      if (kind.time[c] >= kNever) continue;
      smallest =
          std::min(smallest.value_or(kind.transient[c]), kind.transient[c]);
    }
    least = std::max(least, smallest.value_or(0));
  }
  return least;
}

Cost PriceOf(int64_t price, int64_t bytes) {
  const __int128 cost = (static_cast<__int128>(price) * bytes) >> kPriceShift;
  return cost >= kNever ? kNever : static_cast<Cost>(cost);
}

Costs PricedCosts(const Graph& graph, int64_t price) {
  Costs costs = TimeCosts(graph);
  for (size_t u = 0; u < costs.unaries.size(); ++u) {
    for (size_t c = 0; c < costs.unaries[u].size(); ++c) {
      Cost& cost = costs.unaries[u][c];
      cost = Clamp(cost + PriceOf(price, graph.unaries[u].bytes[c]));
    }
  }
  return costs;
}

Costs ByteCosts(const Graph& graph, int64_t most_transient) {
  Costs costs = TimeCosts(graph);
  for (size_t u = 0; u < costs.unaries.size(); ++u) {
    const UnaryKind& kind = graph.unaries[u];
    for (size_t c = 0; c < kind.time.size(); ++c) {
      const bool allowed =
          kind.time[c] < kNever && kind.transient[c] <= most_transient;
      costs.unaries[u][c] = allowed ? Clamp(kind.bytes[c]) : kNever;
    }
  }
  for (Matrix& matrix : costs.matrices) {
    for (Cost& entry : matrix.entries) entry = entry < kNever ? 0 : kNever;
  }
  return costs;
}

std::optional<LeastMemory> FindLeastMemory(
    const Graph& graph, const std::vector<Component>& components,
    const Until& until) {
  std::set<int64_t> transients;
  for (const UnaryKind& kind : graph.unaries) {
    transients.insert(kind.transient.begin(), kind.transient.end());
  }
  const int64_t least_transient = LeastTransient(graph);
  std::optional<LeastMemory> best;
  // From the largest transient down; a plan's own transient is the next bound.
  for (auto bound = transients.rbegin(); bound != transients.rend();) {
    if (best.has_value() && until()) break;
    MinSumResult result =
        MinSum(graph, components, ByteCosts(graph, *bound), until);
    if (result.cost >= kNever) break;
    const Footprint footprint = FootprintOf(graph, result.slots);
    if (!best.has_value() || footprint.peak() < best->peak_bytes) {
      best = LeastMemory{footprint.peak(), std::move(result.slots)};
    }
    if (SaturatingAdd(footprint.bytes, least_transient) >= best->peak_bytes &&
        result.is_complete) {
      break;
    }
    while (bound != transients.rend() && *bound >= footprint.transient) {
      ++bound;
    }
  }
  return best;
}

void PriceMemory(const Graph& graph, const std::vector<Component>& components,
                 const MinSumResult& fastest, int64_t limit_bytes,
                 const Until& until, Incumbent& incumbent) {
  const int64_t room = limit_bytes - LeastTransient(graph);
  Point fast{fastest.cost, FootprintOf(graph, fastest.slots).bytes};
  Point small{incumbent.time, FootprintOf(graph, incumbent.slots).bytes};
  for (int round = 0; round < kMostRounds; ++round) {
    if (fast.bytes <= room || incumbent.time <= incumbent.lower_bound ||
        until()) {
      return;
    }
    const int64_t price = CrossingPrice(fast, small);
    MinSumResult result =
        MinSum(graph, components, PricedCosts(graph, price), until);
    if (!result.is_complete || result.cost >= kNever) return;
    // PriceOf rounds down, and the price of the room must round up.
    const Cost bound = result.cost - PriceOf(price, room) - 1;
    if (bound > incumbent.lower_bound) {
      incumbent.lower_bound = bound;
      incumbent.price = price;
    }
    const Footprint footprint = FootprintOf(graph, result.slots);
    const Point point{TimeOf(graph, result, price), footprint.bytes};
    if (footprint.peak() <= limit_bytes && point.time < incumbent.time) {
      incumbent.time = point.time;
      incumbent.slots = std::move(result.slots);
    }
    Point& side = point.bytes <= room ? small : fast;
    if (point.bytes == side.bytes && point.time >= side.time) return;
    if (point.bytes == fast.bytes || point.bytes == small.bytes) return;
    side = point;
    if (small.time <= fast.time) return;
  }
}

}  // namespace meshwright::search
