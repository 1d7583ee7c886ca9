#include "planner/checkpoint/outside.h"

#include <algorithm>
#include <cmath>

namespace meshwright::checkpoint {

Outside::Outside(const Costs& costs, const SlotTable& inside, int64_t max_cost)
    : costs_(costs), inside_(inside), begin_(costs.intervals()) {
  const int n = costs.stages();
  // Room for the rounding of both tables.
  max_cost_ =
      static_cast<double>(max_cost) * (1 + (8 * n + 8) * std::ldexp(1, -24));
  size_t total = 0;
  for (int s = 0; s < n; ++s) {
    for (int t = s; t < n; ++t) {
      const size_t i = costs.Index(s, t);
      begin_[i] = total;
      total += std::max(0, Last(s, i) + 1 - inside.first(i));
    }
  }
  figures_.assign(total, SlotTable::kNever);
}

int Outside::Last(int s, size_t interval) const {
  return std::min(inside_.zero(interval), inside_.grid().top(s));
}

float Outside::Cost(int s, size_t interval, int slot) const {
  const int last = Last(s, interval);
  if (last < inside_.first(interval)) return SlotTable::kNever;
  slot = std::clamp(slot, inside_.first(interval), last);
  return figures_[begin_[interval] + (slot - inside_.first(interval))];
}

void Outside::Offer(int s, int t, int slot, float cost) {
  const size_t i = costs_.Index(s, t);
  slot = std::min(slot, Last(s, i));
  if (slot < inside_.first(i)) return;
  float& figure = figures_[begin_[i] + (slot - inside_.first(i))];
  figure = std::min(figure, cost);
}

bool Outside::Fill(const base::Deadline& deadline) {
  const int n = costs_.stages();
  Offer(0, n - 1, inside_.grid().top(0), 0);
  for (int length = n; length >= 1; --length) {
    for (int s = 0; s + length <= n; ++s) PassDown(s, s + length - 1);
    if (deadline.HasPassed()) return false;
  }
  return true;
}

void Outside::PassDown(int s, int t) {
  const size_t i = costs_.Index(s, t);
  const int first = inside_.first(i);
  const int last = Last(s, i);
  if (last < first) return;
  float* const figures = figures_.data() + begin_[i] - first;
  for (int j = last - 1; j >= first; --j) {
    figures[j] = std::min(figures[j], figures[j + 1]);
  }
  const auto alive = [&](int j) {
    return figures[j] + inside_.value(s, t, j) <= max_cost_;
  };
  int begin = first;
  int end = last + 1;
  while (begin < end && !alive(begin)) ++begin;
  while (begin < end && !alive(end - 1)) --end;
  if (s == t || begin == end) return;
  const SlotGrid& grid = inside_.grid();
  const int save = grid.Slot(s, costs_.SaveNeed(s, t));
  for (int j = std::max(begin, save); j < end; ++j) {
    Offer(s + 1, t, j - grid.SaveShift(s), figures[j]);
  }
  int64_t need = 0;
  for (int k = s + 1; k <= t; ++k) {
    need = std::max(need, costs_.KeepStep(s, k));
    const int from = grid.Slot(s, need + costs_.Gradient(t));
    const int shift = grid.KeepShift(s, k, Rounding::kDown);
    const float c = static_cast<float>(costs_.Forwards(s, k));
    for (int j = std::max(begin, from); j < end; ++j) {
      const float early = inside_.value(s, k - 1, j);
      const float late = inside_.value(k, t, j - shift);
      const float around = figures[j] + c;
      if (!(around + early + late <= max_cost_)) continue;
      Offer(k, t, j - shift, around + early);
      Offer(s, k - 1, j, around + late);
    }
  }
}

bool Outside::Alive(int s, int t, int64_t bytes, int64_t cost) const {
  const size_t i = costs_.Index(s, t);
  const int slot = inside_.grid().Slot(s, bytes);
  return Cost(s, i, slot) + static_cast<double>(cost) <= max_cost_;
}

std::optional<Outside::Window> Outside::AliveBytes(int s, int t) const {
  const size_t i = costs_.Index(s, t);
  const SlotGrid& grid = inside_.grid();
  int begin = inside_.first(i);
  int end = Last(s, i) + 1;
  const auto alive = [&](int j) {
    return Cost(s, i, j) + inside_.value(s, t, j) <= max_cost_;
  };
  while (begin < end && !alive(begin)) ++begin;
  while (begin < end && !alive(end - 1)) --end;
  if (begin >= end) return std::nullopt;
  // Slot j ends, inclusive, at j * size + offset.
  return Window{(begin - 1) * grid.size() + grid.offset(s) + 1,
                (end - 1) * grid.size() + grid.offset(s)};
}

}  // namespace meshwright::checkpoint
