#include "planner/search/memory.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <utility>

#include "planner/search/improve.h"

namespace meshwright::search {
namespace {

using problem::SaturatingAdd;

constexpr int64_t kMostRounds = 60;
constexpr int64_t kMostRoundSlots = 6'000'000;
constexpr size_t kMostPolished = 100'000;  // slots

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

// What every copy needs when it is chosen for itself.
class Frugal {
 public:
  explicit Frugal(const Graph& graph)
      : graph_(graph), copies_(graph.unaries.size(), 0) {
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

  // A bound from below with no transient above `most`.
  int64_t Bytes(int64_t most) const {
    int64_t bytes = 0;
    for (size_t u = 0; u < copies_.size(); ++u) {
      const int config = Config(u, most);
      if (config < 0) return std::numeric_limits<int64_t>::max();
      bytes = SaturatingAdd(
          bytes, problem::SaturatingMultiply(copies_[u],
                                             graph_.unaries[u].bytes[config]));
    }
    return bytes;
  }

  MinSumResult Solve(int64_t most) const {
    MinSumResult result;
    result.cost = result.bound = Clamp(Bytes(most));
    result.slots.resize(graph_.first_slot.back());
    for (size_t n = 0; n < graph_.node_unary.size(); ++n) {
      std::fill(result.slots.begin() + graph_.first_slot[n],
                result.slots.begin() + graph_.first_slot[n + 1],
                std::max(0, Config(graph_.node_unary[n], most)));
    }
    return result;
  }

 private:
  // Of fewest bytes, then of the smallest transient; -1 where there is none.
  int Config(int unary, int64_t most) const {
    const UnaryKind& kind = graph_.unaries[unary];
    int best = -1;
    for (size_t c = 0; c < kind.time.size(); ++c) {
      if (kind.time[c] >= kNever || kind.transient[c] > most) continue;
      if (best < 0 || std::pair(kind.bytes[c], kind.transient[c]) <
                          std::pair(kind.bytes[best], kind.transient[best])) {
        best = c;
      }
    }
    return best;
  }

  const Graph& graph_;
  std::vector<int64_t> copies_;  // by unary kind
  bool is_alone_ = true;
};

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
  MatrixSet matrices = *costs.matrices;
  for (Matrix& matrix : matrices.all) {
    for (Cost& entry : matrix.entries) entry = entry < kNever ? 0 : kNever;
  }
  for (Extent& extent : matrices.extents) {
    extent.least = extent.least < kNever ? 0 : kNever;
    extent.most = 0;
  }
  costs.matrices = std::make_shared<const MatrixSet>(std::move(matrices));
  return costs;
}

LeastMemory FindLeastMemory(const Graph& graph,
                            const std::vector<Component>& components,
                            int64_t limit_bytes, const Effort& effort,
                            const Until& until) {
  std::set<int64_t> transients;
  for (const UnaryKind& kind : graph.unaries) {
    transients.insert(kind.transient.begin(), kind.transient.end());
  }
  const int64_t least_transient = LeastTransient(graph);
  const Frugal frugal(graph);
  LeastMemory best;
  bool is_first = true;
  // From the largest transient down; a plan's own transient is the next bound.
  for (auto bound = transients.rbegin(); bound != transients.rend();) {
    // Whether any plan fits is soon known where the copies may be alone.
    const bool may_stop = best.peak_bytes <= limit_bytes ||
                          (!best.slots.empty() && !frugal.is_alone());
    if (may_stop && until()) {
      best.is_exact = false;
      break;
    }
    // A plan whose largest transient is this one needs that much.
    if (SaturatingAdd(frugal.Bytes(*bound), *bound) >= best.peak_bytes) {
      ++bound;
      continue;
    }
    MinSumResult result = frugal.is_alone()
                              ? frugal.Solve(*bound)
                              : MinSum(graph, components,
                                       ByteCosts(graph, *bound), effort, until);
    if (is_first) {
      best.bound_bytes = SaturatingAdd(result.bound, least_transient);
      is_first = false;
    }
    best.is_exact = best.is_exact && result.bound == result.cost;
    if (result.cost >= kNever) break;
    const Footprint footprint = FootprintOf(graph, result.slots);
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

std::vector<int> PriceMemory(const Graph& graph,
                             const std::vector<Component>& components,
                             const MinSumResult& fastest, int64_t limit_bytes,
                             const Effort& effort, const Until& until,
                             Incumbent& incumbent) {
  const int64_t room = limit_bytes - LeastTransient(graph);
  Point fast{fastest.cost, FootprintOf(graph, fastest.slots).bytes};
  Point small{incumbent.time, incumbent.bytes};
  std::vector<int> too_large = fastest.slots;
  const int64_t rounds = std::clamp<int64_t>(
      kMostRoundSlots / graph.first_slot.back(), 4, kMostRounds);
  for (int64_t round = 0; round < rounds; ++round) {
    if (fast.bytes <= room || small.time <= fast.time ||
        incumbent.time <= incumbent.lower_bound || until()) {
      break;
    }
    const int64_t price =
        PriceBetween(small.time - fast.time, fast.bytes - small.bytes);
    MinSumResult result =
        MinSum(graph, components, PricedCosts(graph, price), effort, until);
    if (result.cost >= kNever) break;
    // The prices of the copies, each rounded down, add up to no more than that
    // of the room rounded down.
    const Cost bound = result.bound - PriceOf(price, room);
    incumbent.lower_bound = std::max(incumbent.lower_bound, bound);
    const Footprint footprint = FootprintOf(graph, result.slots);
    const Point point{TimeOf(graph, result, price), footprint.bytes};
    const bool is_known =
        point.bytes == fast.bytes || point.bytes == small.bytes;
    if (point.bytes > room) {
      fast = point;
      too_large = std::move(result.slots);
    } else {
      small = point;
      if (footprint.peak() <= limit_bytes && point.time < incumbent.time) {
        incumbent.time = point.time;
        incumbent.bytes = point.bytes;
        incumbent.slots = std::move(result.slots);
      }
    }
    if (is_known) break;
  }
  return too_large;
}

void MixPlans(const Model& model, const std::vector<int>& too_large,
              int64_t limit_bytes, const Until& until, Incumbent& incumbent) {
  std::vector<int> places = Mix(model, PlacesOf(model, incumbent.slots),
                                PlacesOf(model, too_large), limit_bytes, until);
  if (places.size() <= kMostPolished && !until()) {
    places = Polish(model, std::move(places), limit_bytes, until);
  }
  const Draft draft(model, places);
  if (draft.time() >= incumbent.time) return;
  incumbent.time = draft.time();
  incumbent.bytes = draft.bytes();
  for (size_t v = 0; v < places.size(); ++v) {
    incumbent.slots[v] = model.domain(v).configs[places[v]];
  }
}

}  // namespace meshwright::search
