#include "planner/checkpoint/slot_table.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <new>

#include "base/thread_pool.h"

namespace meshwright::checkpoint {
namespace {

// Stages a side: a block of operands and of results fits a cache of 1 MiB.
constexpr int kTile = 16;
// Floats in a line of the cache.
constexpr int kLineFloats = 16;

}  // namespace

SlotTable::SlotTable(const Costs& costs, const MinMemory& memory,
                     int64_t free_bytes, int slots, Rounding rounding,
                     int64_t max_bytes)
    : costs_(costs),
      memory_(memory),
      free_bytes_(free_bytes),
      slots_(slots),
      rounding_(rounding),
      max_bytes_(max_bytes),
      kernels_(ChooseMinKernels()),
      grid_(costs, free_bytes, slots),
      entries_(std::make_unique_for_overwrite<Entry[]>(costs.intervals())),
      keep_shift_(std::make_unique_for_overwrite<int[]>(costs.intervals())),
      keep_need_(std::make_unique_for_overwrite<double[]>(costs.intervals())) {}

bool SlotTable::LayOut(const base::Deadline& deadline) {
  size_t total = 0;
  if (!PlaceAll(deadline, total)) return false;
  int slots = slots_;
  while (total * sizeof(float) > static_cast<size_t>(max_bytes_) && slots > 1) {
    const double share = static_cast<double>(max_bytes_) /
                         static_cast<double>(total * sizeof(float));
    slots = std::max(1, static_cast<int>(slots * share * 0.98));
    grid_ = SlotGrid(costs_, free_bytes_, slots);
    if (!PlaceAll(deadline, total)) return false;
  }
  figures_.reset(static_cast<float*>(::operator new[](
      total * sizeof(float), std::align_val_t(kLineFloats * sizeof(float)))));
  return SetWays(deadline);
}

// Where the figures of each interval stand, and how many there are.
bool SlotTable::PlaceAll(const base::Deadline& deadline, size_t& total) {
  const int n = costs_.stages();
  total = 0;
  for (int s = 0; s < n; ++s) {
    if (deadline.HasPassed()) return false;
    for (int t = s; t < n; ++t) {
      Entry& entry = entries_[costs_.Index(s, t)];
      entry = {.begin = 0,
               .first = grid_.Slot(s, memory_.min_bytes(s, t)),
               .zero = grid_.Slot(s, memory_.full(s, t))};
      // Slot 0 of every line has the same place in a line of the cache.
      const int count = end(s, entry) - entry.first;
      if (count <= 0) continue;
      entry.begin = total + entry.first % kLineFloats;
      total =
          (entry.begin + count + kLineFloats - 1) / kLineFloats * kLineFloats;
    }
  }
  return true;
}

bool SlotTable::SetWays(const base::Deadline& deadline) {
  const int n = costs_.stages();
  per_slot_ = 1.0 / static_cast<double>(grid_.size());
  for (int s = 0; s < n; ++s) {
    if (deadline.HasPassed()) return false;
    gradient_.push_back(static_cast<double>(costs_.Gradient(s)) * per_slot_);
    int64_t need = 0;
    for (int k = s + 1; k < n; ++k) {
      need = std::max(need, costs_.KeepStep(s, k));
      keep_need_[costs_.Index(s, k)] =
          static_cast<double>(need - grid_.offset(s)) * per_slot_;
      keep_shift_[costs_.Index(s, k)] = grid_.KeepShift(s, k, rounding_);
    }
  }
  return true;
}

float SlotTable::value(int s, int t, int slot) const {
  const Entry& entry = entries_[costs_.Index(s, t)];
  slot = std::min(slot, grid_.top(s));
  if (slot < entry.first) return kNever;
  if (slot >= entry.zero) return 0;
  return figures_[entry.begin + (slot - entry.first)];
}

int64_t SlotTable::LowerBound() const {
  const int n = costs_.stages();
  const double certain = 1 - (2 * n + 2) * std::ldexp(1, -24);
  const double bound = value(0, n - 1, grid_.top(0)) * certain;
  const double max_bound = 9e18;
  return bound > 0 ? static_cast<int64_t>(std::min(bound, max_bound)) : 0;
}

bool SlotTable::Fill(int threads, const base::Deadline& deadline) {
  if (!LayOut(deadline)) return false;
  const int tiles = (costs_.stages() + kTile - 1) / kTile;
  std::atomic<bool> stopped = false;
  for (int diagonal = 0; diagonal < tiles; ++diagonal) {
    const auto fill = [&](int row) {
      if (!stopped) FillTile(row, row + diagonal, deadline);
      if (deadline.HasPassed()) stopped = true;
    };
    base::ParallelFor(tiles - diagonal, fill, threads);
    if (stopped) return false;
  }
  return true;
}

SlotTable::Line SlotTable::FindLine(int s, int t) const {
  const Entry& entry = entries_[costs_.Index(s, t)];
  return {figures_.get() + entry.begin - entry.first, entry.first,
          end(s, entry)};
}

SlotTable::Way SlotTable::FindWay(int s, int k) const {
  const size_t i = costs_.Index(s, k);
  return {k, static_cast<float>(costs_.Forwards(s, k)), keep_shift_[i],
          keep_need_[i], FindLine(s, k - 1)};
}

void SlotTable::FillTile(int row, int column, const base::Deadline& deadline) {
  const int n = costs_.stages();
  const int s_begin = row * kTile;
  const int s_end = std::min(n, s_begin + kTile);
  const int t_begin = column * kTile;
  const int t_end = std::min(n, t_begin + kTile);
  Line lines[kTile][kTile];
  // No later k of larger cost improves a result from here on: what stands
  // there, or will once minima are taken along the slots, costs no more.
  int open[kTile][kTile];
  for (int s = s_begin; s < s_end; ++s) {
    for (int t = std::max(s, t_begin); t < t_end; ++t) {
      const Line out = FindLine(s, t);
      lines[s - s_begin][t - t_begin] = out;
      open[s - s_begin][t - t_begin] = out.end;
      if (out.first < out.end) {
        std::fill(out.figures + out.first, out.figures + out.end, kNever);
      }
    }
  }
  const auto keep = [&](const Way& way, int s, int t) {
    const Line& out = lines[s - s_begin][t - t_begin];
    int& end = open[s - s_begin][t - t_begin];
    while (end > out.first && out.figures[end - 1] <= way.cost) --end;
    if (end > out.first) Keep(way, t, out, end);
  };
  // The operands of s_end <= k <= t_begin stand in tiles of earlier diagonals.
  for (int from = s_end; from <= t_begin; from += kTile) {
    if (deadline.HasPassed()) return;
    const int to = std::min(from + kTile, t_begin + 1);
    for (int s = s_begin; s < s_end; ++s) {
      for (int k = from; k < to; ++k) {
        const Way way = FindWay(s, k);
        for (int t = t_begin; t < t_end; ++t) keep(way, s, t);
      }
    }
  }
  for (int s = s_end - 1; s >= s_begin; --s) {
    for (int t = std::max(s, t_begin); t < t_end; ++t) {
      const Line& out = lines[s - s_begin][t - t_begin];
      if (out.first >= out.end) continue;
      for (int k = std::max(s_end, t_begin + 1); k <= t; ++k) {
        keep(FindWay(s, k), s, t);
      }
      // These cost less than what `open` was narrowed for.
      for (int k = s + 1; k <= std::min(t, s_end - 1); ++k) {
        Keep(FindWay(s, k), t, out, out.end);
      }
      Finish(s, t, out);
    }
  }
}

void SlotTable::Keep(const Way& way, int t, const Line& out, int end) {
  const int k = way.k;
  const Entry& entry = entries_[costs_.Index(k, t)];
  if (entry.first > grid_.top(k)) return;
  // Rounded down by a hair, as a bound may be.
  const double need =
      std::min((way.need + gradient_[t]) * (1 - 1e-12), double{1 << 29});
  const int floor = static_cast<int>(need);
  const int begin = std::max({out.first, floor + (need > floor ? 1 : 0),
                              way.early.first, entry.first + way.shift});
  if (begin >= end) return;
  const Line late = {figures_.get() + entry.begin - entry.first, entry.first,
                     this->end(k, entry)};
  const float* const figures = late.figures - way.shift;
  const int late_end = std::max(begin, std::min(end, late.end + way.shift));
  const int early_end = std::max(begin, std::min(end, way.early.end));
  const int both = std::min(late_end, early_end);
  kernels_.both(out.figures + begin, figures + begin, way.early.figures + begin,
                way.cost, both - begin);
  kernels_.one(out.figures + both, figures + both, way.cost, late_end - both);
  // Past its last figure the late part costs nothing, or it is at the top.
  const bool at_top = entry.zero > late.end;
  const float rest = at_top ? way.cost + late.figures[late.end - 1] : way.cost;
  kernels_.one(out.figures + both, way.early.figures + both, rest,
               early_end - both);
  const int done = std::max(late_end, early_end);
  if (done < end) out.figures[done] = std::min(out.figures[done], rest);
}

void SlotTable::Finish(int s, int t, const Line& out) {
  const Line part = FindLine(s + 1, t);
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
