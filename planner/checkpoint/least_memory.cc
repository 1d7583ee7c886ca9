#include "planner/checkpoint/least_memory.h"

#include <algorithm>

namespace meshwright::checkpoint {

LeastMemory::LeastMemory(const Costs& costs)
    : costs_(costs), least_(costs.intervals()), full_(costs.intervals()) {
  const int n = costs.stages();
  // least_ once more, in columns of t: later[t][k] for k > s.
  std::vector<std::vector<int64_t>> later(n);
  for (int t = 0; t < n; ++t) later[t].resize(t + 1);
  std::vector<int64_t> keep(n + 1);
  for (int s = n - 1; s >= 0; --s) {
    int64_t largest = 0;
    for (int k = s + 1; k < n; ++k) {
      largest = std::max(largest, costs.KeepStep(s, k));
      keep[k] = largest;
    }
    const int64_t* const row = &least_[costs.Index(s, s)];
    for (int t = s; t < n; ++t) {
      const int64_t save = costs.SaveNeed(s, t);
      const size_t index = costs.Index(s, t);
      full_[index] = save;
      int64_t best = save;
      if (t > s) {
        full_[index] = std::max(save, costs.saved(s) + full(s + 1, t));
        best = std::max(save, costs.saved(s) + later[t][s + 1]);
        const int64_t gradient = costs.Gradient(t);
        const int64_t* const column = later[t].data();
        for (int k = s + 1; k <= t && keep[k] + gradient < best; ++k) {
          const int64_t parts =
              std::max(costs.act(k) + column[k], row[k - 1 - s]);
          best = std::min(best, std::max(parts, keep[k] + gradient));
        }
      }
      least_[index] = best;
      later[t][s] = best;
    }
  }
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
