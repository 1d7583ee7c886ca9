#include "planner/checkpoint/guided.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace meshwright::checkpoint {

Decide GuidedDecide(const Costs& costs, const MinMemory& memory,
                    Estimate estimate) {
  return [&costs, &memory,
          estimate = std::move(estimate)](const Interval& interval) {
    const auto [s, t, free] = interval;
    if (free >= memory.full(s, t)) {
      return Decision{Decision::Kind::kSaveAll};
    }
    Decision best;
    bool found = false;  // an estimate may be infinite all the same
    double min_sum = std::numeric_limits<double>::infinity();
    // False where the interval cannot be scheduled.
    const auto add = [&](const Interval& part, double& sum) {
      if (part.memory < memory.min_bytes(part.s, part.t)) return false;
      if (part.memory < memory.full(part.s, part.t)) sum += estimate(part);
      return true;
    };
    double sum = 0;
    if (costs.SaveNeed(s, t) <= free &&
        add({s + 1, t, free - costs.saved(s)}, sum)) {
      min_sum = sum;
      found = true;
    }
    int64_t need = 0;
    for (int k = s + 1; k <= t; ++k) {
      need = std::max(need, costs.KeepStep(s, k) + costs.Gradient(t));
      if (need > free) break;
      sum = static_cast<double>(costs.Forwards(s, k));
      if (found && sum >= min_sum) continue;
      if (!add({k, t, free - costs.act(k)}, sum)) continue;
      if (!add({s, k - 1, free}, sum)) continue;
      if (found && sum >= min_sum) continue;
      min_sum = sum;
      best = {Decision::Kind::kKeep, k};
      found = true;
    }
    return best;
  };
}

double EstimateStraight(const Costs& costs, const MinMemory& memory,
                        const Interval& interval) {
  const auto [s, t, free] = interval;
  const double full = static_cast<double>(memory.full(s, t));
  const double min_bytes = static_cast<double>(memory.min_bytes(s, t));
  const double share = (full - static_cast<double>(free)) / (full - min_bytes);
  return share * static_cast<double>(costs.Forwards(s, t + 1));
}

}  // namespace meshwright::checkpoint
