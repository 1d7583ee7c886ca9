#include "planner/checkpoint/min_memory.h"

#include <algorithm>

namespace meshwright::checkpoint {

namespace {

std::vector<int64_t> SavedBefore(const Costs& costs) {
  std::vector<int64_t> before = {0};
  for (int s = 0; s + 1 < costs.stages(); ++s) {
    before.push_back(before.back() + costs.saved(s));
  }
  return before;
}

}  // namespace

MinMemory::MinMemory(const Costs& costs)
    : costs_(costs),
      saved_before_(SavedBefore(costs)),
      savings_(ListSavings()),
      keepings_(ListKeepings()),
      steps_(costs.stages() + 1),
      unfilled_(costs.stages()) {}

std::vector<MinMemory::Saving> MinMemory::ListSavings() const {
  std::vector<Saving> savings;
  for (int s = 0; s < costs_.stages(); ++s) {
    savings.push_back({saved_before_[s] + costs_.ComputeForwardNeed(s),
                       saved_before_[s] + costs_.ComputeBackwardNeed(s)});
  }
  return savings;
}

// No forward goes before that of the first stage, which nobody asks for; and
// no forward has a gradient of its own stage.
std::vector<MinMemory::Keeping> MinMemory::ListKeepings() const {
  std::vector<Keeping> keepings;
  for (int s = 0; s < costs_.stages(); ++s) {
    keepings.push_back({.forward = s == 0 ? 0 : costs_.KeepStep(s - 1, s + 1),
                        .gradient = costs_.Gradient(s),
                        .turn = costs_.act(s) + costs_.SaveNeed(s, s)});
  }
  return keepings;
}

bool MinMemory::Fill(const base::Deadline& deadline) {
  if (min_bytes_ == nullptr) {
    min_bytes_ = std::make_unique_for_overwrite<int64_t[]>(costs_.intervals());
  }
  for (; unfilled_ > 0; --unfilled_) {
    if (deadline.HasPassed()) return false;
    FillRow(unfilled_ - 1);
  }
  return true;
}

void MinMemory::FillRow(int s) {
  const int n = costs_.stages();
  int64_t* const min_bytes = &min_bytes_[costs_.Index(s, s)] - s;
  min_bytes[s] = costs_.SaveNeed(s, s);
  int64_t step = 0;
  int64_t alone =
      costs_.ComputeBackwardNeed(s);  // the largest of one in its turn
  for (int t = s + 1; t < n; ++t) {
    step = std::max(step, costs_.KeepStep(s, t));
    steps_[t] = step;
    const int64_t own = costs_.act(t) + costs_.SaveNeed(t, t);
    const int64_t needs = std::max({alone, step + costs_.Gradient(t), own});
    const int64_t nothing_kept = std::max(needs, min_bytes[t - 1]);
    min_bytes[t] =
        nothing_kept == needs ? needs : Searched(s, t, needs, nothing_kept);
    alone = std::max(alone, costs_.act(t) + costs_.ComputeBackwardNeed(t));
  }
}

// No more than `max_bytes`, which keeping at t takes, and no less than `needs`.
int64_t MinMemory::Searched(int s, int t, int64_t needs,
                            int64_t max_bytes) const {
  int64_t best = std::min(
      max_bytes,
      std::max(costs_.SaveNeed(s, t), costs_.saved(s) + min_bytes(s + 1, t)));
  const int64_t gradient = costs_.Gradient(t);
  const int64_t* const row = &min_bytes_[costs_.Index(s, s)] - s;
  for (int k = s + 1; k < t && best > needs; ++k) {
    if (steps_[k] + gradient >= best) break;
    const int64_t parts = std::max(costs_.act(k) + min_bytes(k, t), row[k - 1]);
    best = std::min(best, std::max(parts, steps_[k] + gradient));
  }
  return best;
}

int64_t CountFullMemory(const Costs& costs) {
  const int last = costs.stages() - 1;
  int64_t full = costs.SaveNeed(last, last);
  for (int s = last - 1; s >= 0; --s) {
    full = std::max(costs.SaveNeed(s, last), costs.saved(s) + full);
  }
  return full;
}

}  // namespace meshwright::checkpoint
