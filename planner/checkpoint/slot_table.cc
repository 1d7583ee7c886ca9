#include "planner/checkpoint/slot_table.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "planner/checkpoint/parallel_for.h"

namespace meshwright::checkpoint {
namespace {

// Stages a side: two blocks of operands and the results fit a cache of 1 MiB.
constexpr int kTile = 12;

}  // namespace

SlotTable::SlotTable(const Costs& costs, const LeastMemory& memory,
                     int64_t free_bytes, int slots, int64_t most_bytes)
    : costs_(costs),
      kernels_(ChooseMinKernels()),
      grid_(costs, free_bytes, slots),
      first_(costs.intervals()),
      zero_(costs.intervals()),
      begin_(costs.intervals() + 1),
      keep_shift_(costs.intervals()),
      keep_need_(costs.intervals()) {
  const int n = costs.stages();
  const auto lay_out = [&] {
    size_t total = 0;
    for (int s = 0; s < n; ++s) {
      for (int t = s; t < n; ++t) {
        const size_t i = costs.Index(s, t);
        first_[i] = grid_.Slot(s, memory.least(s, t));
        zero_[i] = grid_.Slot(s, memory.full(s, t));
        begin_[i] = total;
        total += std::max(0, end(s, i) - first_[i]);
      }
    }
    return total;
  };
  size_t total = lay_out();
  while (total * sizeof(float) > static_cast<size_t>(most_bytes) && slots > 1) {
    const double share = static_cast<double>(most_bytes) /
                         static_cast<double>(total * sizeof(float));
    slots = std::max(1, static_cast<int>(slots * share * 0.98));
    grid_ = SlotGrid(costs, free_bytes, slots);
    total = lay_out();
  }
  begin_.back() = total;
  figures_ = std::make_unique_for_overwrite<float[]>(total);
  per_slot_ = 1.0 / static_cast<double>(grid_.size());
  for (int s = 0; s < n; ++s) {
    int64_t need = 0;
    for (int k = s + 1; k < n; ++k) {
      need = std::max(need, costs.KeepStep(s, k));
      keep_need_[costs.Index(s, k)] = need - grid_.offset(s);
      keep_shift_[costs.Index(s, k)] = grid_.KeepShift(s, k);
    }
  }
}

float SlotTable::value(int s, int t, int slot) const {
  const size_t i = costs_.Index(s, t);
  slot = std::min(slot, grid_.top(s));
  if (slot < first_[i]) return kNever;
  if (slot >= zero_[i]) return 0;
  return figures_[begin_[i] + (slot - first_[i])];
}

int64_t SlotTable::LowerBound() const {
  const int n = costs_.stages();
  const double certain = 1 - (2 * n + 2) * std::ldexp(1, -24);
  const double bound = value(0, n - 1, grid_.top(0)) * certain;
  const double most = 9e18;
  return bound > 0 ? static_cast<int64_t>(std::min(bound, most)) : 0;
}

bool SlotTable::Fill(int threads, const Interrupt& interrupt) {
  const int tiles = (costs_.stages() + kTile - 1) / kTile;
  std::atomic<bool> stopped = false;
  for (int diagonal = 0; diagonal < tiles; ++diagonal) {
    ParallelFor(tiles - diagonal, threads, [&](int row) {
      if (!stopped) FillTile(row, row + diagonal, interrupt);
      if (interrupt.Requested()) stopped = true;
    });
    if (stopped) return false;
  }
  return true;
}

SlotTable::Line SlotTable::LineOf(int s, int t) const {
  const size_t i = costs_.Index(s, t);
  return {figures_.get() + begin_[i] - first_[i], first_[i], end(s, i)};
}

void SlotTable::FillTile(int row, int column, const Interrupt& interrupt) {
  const int n = costs_.stages();
  const int s_begin = row * kTile;
  const int s_end = std::min(n, s_begin + kTile);
  const int t_begin = column * kTile;
  const int t_end = std::min(n, t_begin + kTile);
  for (int s = s_begin; s < s_end; ++s) {
    for (int t = std::max(s, t_begin); t < t_end; ++t) Begin(s, t);
  }
  // The operands of s_end <= k <= t_begin stand in tiles of earlier diagonals.
  for (int from = s_end; from <= t_begin; from += kTile) {
    if (interrupt.Requested()) return;
    const int to = std::min(from + kTile, t_begin + 1);
    for (int s = s_begin; s < s_end; ++s) {
      for (int t = t_begin; t < t_end; ++t) {
        const Line out = LineOf(s, t);
        if (out.first >= out.end) continue;
        for (int k = from; k < to; ++k) Keep(s, k, t, out);
      }
    }
  }
  for (int s = s_end - 1; s >= s_begin; --s) {
    for (int t = std::max(s, t_begin); t < t_end; ++t) {
      const Line out = LineOf(s, t);
      if (out.first >= out.end) continue;
      for (int k = s + 1; k <= std::min(t, s_end - 1); ++k) Keep(s, k, t, out);
      for (int k = std::max(s_end, t_begin + 1); k <= t; ++k) {
        Keep(s, k, t, out);
      }
      Finish(s, t);
    }
  }
}

// The slot at which `bytes`, the offset taken off, are there; rounded down by a
// hair, as a bound may be, for the sake of a division.
int SlotTable::NeedSlot(int64_t bytes) const {
  const double slots = std::min(
      static_cast<double>(bytes) * per_slot_ * (1 - 1e-12), double{1 << 29});
  const int floor = static_cast<int>(slots);
  return floor + (slots > floor ? 1 : 0);
}

void SlotTable::Begin(int s, int t) {
  const Line out = LineOf(s, t);
  if (out.first < out.end) {
    std::fill(out.figures + out.first, out.figures + out.end, kNever);
  }
}

void SlotTable::Keep(int s, int k, int t, const Line& out) {
  const size_t keep = costs_.Index(s, k);
  const size_t late = costs_.Index(k, t);
  const size_t early = costs_.Index(s, k - 1);
  const int shift = keep_shift_[keep];
  if (first_[late] > grid_.top(k)) return;
  const int begin =
      std::max({out.first, NeedSlot(keep_need_[keep] + costs_.Gradient(t)),
                first_[early], first_[late] + shift});
  if (begin >= out.end) return;
  const Line a = LineOf(k, t);
  const Line b = LineOf(s, k - 1);
  const float* const late_figures = a.figures - shift;
  const float c = static_cast<float>(costs_.Forwards(s, k));
  const int late_end = std::max(begin, std::min(out.end, a.end + shift));
  const int early_end = std::max(begin, std::min(out.end, b.end));
  const int both = std::min(late_end, early_end);
  kernels_.both(out.figures + begin, late_figures + begin, b.figures + begin, c,
                both - begin);
  kernels_.one(out.figures + both, late_figures + both, c, late_end - both);
  // Past its last figure the late part costs nothing, or it is at the top.
  const bool late_at_top = zero_[late] > a.end;
  const float rest = late_at_top ? c + a.figures[a.end - 1] : c;
  kernels_.one(out.figures + both, b.figures + both, rest, early_end - both);
  const int done = std::max(late_end, early_end);
  if (done < out.end) out.figures[done] = std::min(out.figures[done], rest);
}

void SlotTable::Finish(int s, int t) {
  const Line out = LineOf(s, t);
  const Line part = LineOf(s + 1, t);
  const int shift = grid_.SaveShift(s);
  const int begin = std::max(
      {out.first, grid_.Slot(s, costs_.SaveNeed(s, t)), part.first + shift});
  if (begin < out.end) {
    const int part_end = std::max(begin, std::min(out.end, part.end + shift));
    kernels_.one(out.figures + begin, part.figures - shift + begin, 0,
                 part_end - begin);
    if (part_end < out.end) out.figures[part_end] = 0;
  }
  for (int j = out.first + 1; j < out.end; ++j) {
    out.figures[j] = std::min(out.figures[j], out.figures[j - 1]);
  }
}

}  // namespace meshwright::checkpoint
