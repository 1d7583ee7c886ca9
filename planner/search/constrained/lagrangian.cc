#include "planner/search/constrained/lagrangian.h"

#include <algorithm>
#include <utility>

#include "planner/search/elimination/local_improvement.h"

namespace meshwright::search {
namespace {

using problem::SaturatingAdd;

constexpr int64_t kMaxMultipliers = 60;
constexpr int64_t kMaxRoundSlots = 6'000'000;
constexpr size_t kMaxPolished = 100'000;  // slots

Cost ComputeTime(const Graph& graph, const MinSumResult& result,
                 int64_t multiplier) {
  Cost charged = 0;
  for (size_t n = 0; n < graph.node_unary.size(); ++n) {
    const UnaryKind& kind = graph.unaries[graph.node_unary[n]];
    for (int64_t s = graph.first_slot[n]; s < graph.first_slot[n + 1]; ++s) {
      charged += Charge(multiplier, kind.bytes[result.slots[s]]);
    }
  }
  return result.cost - charged;
}

}  // namespace

Costs ChargeCosts(const Graph& graph, int64_t multiplier) {
  Costs costs = TimeCosts(graph);
  for (size_t u = 0; u < costs.unaries.size(); ++u) {
    for (size_t c = 0; c < costs.unaries[u].size(); ++c) {
      Cost& cost = costs.unaries[u][c];
      cost = Clamp(cost + Charge(multiplier, graph.unaries[u].bytes[c]));
    }
  }
  return costs;
}

std::vector<int> SearchMultiplier(const Graph& graph,
                                  const std::vector<Component>& components,
                                  const MinSumResult& fastest,
                                  int64_t limit_bytes, const WorkBudget& work,
                                  const base::Deadline& deadline,
                                  Incumbent& incumbent) {
  const int64_t byte_budget = limit_bytes - ComputeMinTransient(graph);
  Point fast{fastest.cost, ComputeFootprint(graph, fastest.slots).bytes};
  Point small{incumbent.time, incumbent.bytes};
  std::vector<int> too_large = fastest.slots;
  const int64_t rounds = std::clamp<int64_t>(
      kMaxRoundSlots / graph.first_slot.back(), 4, kMaxMultipliers);
  for (int64_t round = 0; round < rounds; ++round) {
    if (fast.bytes <= byte_budget || small.time <= fast.time ||
        incumbent.time <= incumbent.lower_bound || deadline.HasPassed()) {
      break;
    }
    const int64_t multiplier =
        FindMultiplier(small.time - fast.time, fast.bytes - small.bytes);
    MinSumResult result = MinimizeSum(
        graph, components, ChargeCosts(graph, multiplier), work, deadline);
    if (result.cost >= kNever) break;
    // The charges of the copies, each rounded down, add up to no more than that
    // of the byte budget rounded down.
    const Cost bound = result.bound - Charge(multiplier, byte_budget);
    incumbent.lower_bound = std::max(incumbent.lower_bound, bound);
    const Footprint footprint = ComputeFootprint(graph, result.slots);
    const Point point{ComputeTime(graph, result, multiplier), footprint.bytes};
    const bool is_known =
        point.bytes == fast.bytes || point.bytes == small.bytes;
    if (point.bytes > byte_budget) {
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
              int64_t limit_bytes, const base::Deadline& deadline,
              Incumbent& incumbent) {
  std::vector<int> values =
      Mix(model, FindValues(model, incumbent.slots),
          FindValues(model, too_large), limit_bytes, deadline);
  if (values.size() <= kMaxPolished && !deadline.HasPassed()) {
    values = Polish(model, std::move(values), limit_bytes, deadline);
  }
  const Draft draft(model, values);
  if (draft.time() >= incumbent.time) return;
  incumbent.time = draft.time();
  incumbent.bytes = draft.bytes();
  for (size_t v = 0; v < values.size(); ++v) {
    incumbent.slots[v] = model.domain(v).configs[values[v]];
  }
}

}  // namespace meshwright::search
