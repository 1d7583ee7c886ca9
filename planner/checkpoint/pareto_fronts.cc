#include "planner/checkpoint/pareto_fronts.h"

#include <algorithm>
#include <limits>

#include "planner/problem/duration.h"

namespace meshwright::checkpoint {
namespace {

using problem::SaturatingAdd;

constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

}  // namespace

ParetoFronts::ParetoFronts(const Costs& costs, const MinMemory& memory,
                           const Outside& outside)
    : costs_(costs),
      memory_(memory),
      outside_(outside),
      fronts_(costs.intervals()) {}

ParetoFronts::Outcome ParetoFronts::Fill(int64_t max_steps,
                                         const base::Deadline& deadline) {
  const int n = costs_.stages();
  steps_ = 0;
  for (int length = 1; length <= n; ++length) {
    for (int s = 0; s + length <= n; ++s) {
      FillOne(s, s + length - 1);
      if (steps_ > max_steps) return Outcome::kTooManySteps;
      if (deadline.HasPassed()) return Outcome::kInterrupted;
    }
  }
  return Outcome::kDone;
}

void ParetoFronts::FillOne(int s, int t) {
  const auto window = outside_.AliveBytes(s, t);
  if (!window.has_value()) return;
  best_.clear();
  if (s < t) {
    Save(s, t, *window);
    int64_t need = 0;
    for (int k = s + 1; k <= t; ++k) {
      need = std::max(need, costs_.KeepStep(s, k));
      Keep(s, k, t, std::max(window->first, need + costs_.Gradient(t)),
           window->last);
    }
  }
  const int64_t full = memory_.full(s, t);
  while (!best_.empty() && best_.back().bytes >= full) best_.pop_back();
  if (best_.empty() || best_.back().cost > 0) best_.push_back({full, 0});
  Front& front = fronts_[costs_.Index(s, t)];
  for (const Step& step : best_) {
    if (outside_.Alive(s, t, step.bytes, step.cost)) front.push_back(step);
  }
}

void ParetoFronts::Save(int s, int t, const Outside::Window& window) {
  const int64_t need = std::max(costs_.SaveNeed(s, t), window.first);
  for (const Step& step : fronts_[costs_.Index(s + 1, t)]) {
    const int64_t bytes = std::max(need, step.bytes + costs_.saved(s));
    if (bytes > window.last) break;
    if (!best_.empty() && best_.back().bytes == bytes) best_.pop_back();
    best_.push_back({bytes, step.cost});
  }
  steps_ += static_cast<int64_t>(best_.size());
}

void ParetoFronts::Keep(int s, int k, int t, int64_t from, int64_t last) {
  const Front& late = fronts_[costs_.Index(k, t)];
  const Front& early = fronts_[costs_.Index(s, k - 1)];
  if (late.empty() || early.empty()) return;
  const int64_t act = costs_.act(k);
  int64_t bytes =
      std::max({from, late.front().bytes + act, early.front().bytes});
  if (bytes > last) return;
  // The last step of each that `bytes` pays for.
  const auto find = [](const Front& front, int64_t limit) {
    return std::upper_bound(front.begin(), front.end(), limit,
                            [](int64_t value, const Step& step) {
                              return value < step.bytes;
                            }) -
           1;
  };
  auto a = find(late, bytes - act);
  auto b = find(early, bytes);
  const int64_t again = costs_.Forwards(s, k);
  merged_.clear();
  int64_t min_cost = kNone;
  const auto put = [&](const Step& step) {
    if (step.cost >= min_cost && min_cost != kNone) return;
    min_cost = step.cost;
    if (!merged_.empty() && merged_.back().bytes == step.bytes) {
      merged_.back() = step;
    } else {
      merged_.push_back(step);
    }
  };
  auto old = best_.begin();
  while (bytes <= last) {
    for (; old != best_.end() && old->bytes <= bytes; ++old) put(*old);
    put({bytes, SaturatingAdd(again, SaturatingAdd(a->cost, b->cost))});
    const int64_t next_a = a + 1 == late.end() ? kNone : (a + 1)->bytes + act;
    const int64_t next_b = b + 1 == early.end() ? kNone : (b + 1)->bytes;
    bytes = std::min(next_a, next_b);
    if (bytes == kNone) break;
    if (next_a == bytes) ++a;
    if (next_b == bytes) ++b;
    ++steps_;
  }
  for (; old != best_.end(); ++old) put(*old);
  steps_ += static_cast<int64_t>(merged_.size());
  best_.swap(merged_);
}

int64_t ParetoFronts::Cost(const Interval& interval) const {
  const auto [s, t, free] = interval;
  if (free >= memory_.full(s, t)) return 0;
  const Front& front = fronts_[costs_.Index(s, t)];
  const auto after = std::upper_bound(
      front.begin(), front.end(), free,
      [](int64_t value, const Step& step) { return value < step.bytes; });
  return after == front.begin() ? kNone : (after - 1)->cost;
}

Decision ParetoFronts::Decide(const Interval& interval) const {
  const auto [s, t, free] = interval;
  if (free >= memory_.full(s, t)) return {Decision::Kind::kSaveAll};
  Decision best;
  int64_t min_cost = kNone;
  if (costs_.SaveNeed(s, t) <= free) {
    min_cost = Cost({s + 1, t, free - costs_.saved(s)});
  }
  int64_t need = 0;
  for (int k = s + 1; k <= t; ++k) {
    need = std::max(need, costs_.KeepStep(s, k) + costs_.Gradient(t));
    if (need > free) break;
    const int64_t parts = SaturatingAdd(Cost({k, t, free - costs_.act(k)}),
                                        Cost({s, k - 1, free}));
    const int64_t sum = SaturatingAdd(costs_.Forwards(s, k), parts);
    if (sum < min_cost) {
      min_cost = sum;
      best = {Decision::Kind::kKeep, k};
    }
  }
  return best;
}

}  // namespace meshwright::checkpoint
