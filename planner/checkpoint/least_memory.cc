#include "planner/checkpoint/least_memory.h"

#include <algorithm>

namespace meshwright::checkpoint {

LeastMemory::LeastMemory(const Costs& costs)
    : costs_(costs),
      least_(std::make_unique_for_overwrite<int64_t[]>(costs.intervals())),
      full_(std::make_unique_for_overwrite<int64_t[]>(costs.intervals())),
      steps_(costs.stages() + 1),
      unsettled_(costs.stages()) {
  const int n = costs.stages();
  for (int s = n - 1; s >= 0; --s) {
    int64_t* const least = &least_[costs.Index(s, s)] - s;
    int64_t* const full = &full_[costs.Index(s, s)] - s;
    const int64_t* const later =
        s + 1 < n ? &full_[costs.Index(s + 1, s + 1)] - (s + 1) : nullptr;
    least[s] = full[s] = costs.SaveNeed(s, s);
    int64_t step = 0;
    for (int t = s + 1; t < n; ++t) {
      full[t] = std::max(costs.SaveNeed(s, t), costs.saved(s) + later[t]);
      step = std::max(step, costs.KeepStep(s, t));
      least[t] = std::max({least[t - 1], step + costs.Gradient(t),
                           costs.act(t) + costs.SaveNeed(t, t)});
    }
  }
}

bool LeastMemory::Settle(const problem::Interrupt& interrupt) {
  for (; unsettled_ > 0; --unsettled_) {
    if (interrupt.Requested()) return false;
    SettleRow(unsettled_ - 1);
  }
  return true;
}

void LeastMemory::SettleRow(int s) {
  const int n = costs_.stages();
  int64_t* const least = &least_[costs_.Index(s, s)] - s;
  int64_t step = 0;
  int64_t alone = costs_.BackwardNeed(s);  // the largest of one in its turn
  for (int t = s + 1; t < n; ++t) {
    step = std::max(step, costs_.KeepStep(s, t));
    steps_[t] = step;
    const int64_t own = costs_.act(t) + costs_.SaveNeed(t, t);
    const int64_t needs = std::max({alone, step + costs_.Gradient(t), own});
    const int64_t nothing_kept = std::max(needs, least[t - 1]);
    least[t] =
        nothing_kept == needs ? needs : Searched(s, t, needs, nothing_kept);
    alone = std::max(alone, costs_.act(t) + costs_.BackwardNeed(t));
  }
}

// No more than `most`, which keeping at t takes, and no less than `needs`.
int64_t LeastMemory::Searched(int s, int t, int64_t needs, int64_t most) const {
  int64_t best = std::min(
      most, std::max(costs_.SaveNeed(s, t), costs_.saved(s) + least(s + 1, t)));
  const int64_t gradient = costs_.Gradient(t);
  for (int k = s + 1; k < t && best > needs; ++k) {
    if (steps_[k] + gradient >= best) break;
    const int64_t parts =
        std::max(costs_.act(k) + least(k, t), least(s, k - 1));
    best = std::min(best, std::max(parts, steps_[k] + gradient));
  }
  return best;
}

int64_t FullMemory(const Costs& costs) {
  const int last = costs.stages() - 1;
  int64_t full = costs.SaveNeed(last, last);
  for (int s = last - 1; s >= 0; --s) {
    full = std::max(costs.SaveNeed(s, last), costs.saved(s) + full);
  }
  return full;
}

}  // namespace meshwright::checkpoint
