// SlotGrid: bytes of memory as numbered slots, so that rounding costs little.
//
// Concept: memory x of an interval that begins at stage s belongs to slot
//
//   j = ceil((x - offset(s)) / size),   0 <= offset(s) < size.
//
// The offsets follow the stages, offset(s+1) = offset(s) - saved[s] modulo the
// size. Saving a stage thus moves by whole slots, without any rounding, and the
// whole memory ends on a slot. Only a kept activation is rounded, down: fewer
// slots are taken than bytes, so costs by slot bound costs by byte from below.
// Rounding every size by itself would lose half a slot per stage.
#ifndef MESHWRIGHT_PLANNER_CHECKPOINT_SLOT_GRID_H_
#define MESHWRIGHT_PLANNER_CHECKPOINT_SLOT_GRID_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "planner/checkpoint/costs.h"

namespace meshwright::checkpoint {

// Down: for bounds. To the nearest: for estimates.
enum class Rounding { kDown, kNearest };

class SlotGrid {
 public:
  // At most `slots` slots for `memory`, of a byte each or more.
  SlotGrid(const Costs& costs, int64_t memory, int slots);

  int64_t size() const { return size_; }
  // The slot of `bytes` at stage s.
  int Slot(int s, int64_t bytes) const;
  // The last slot that [s, ..] can be given.
  int top(int s) const { return top_[s]; }
  // Slots taken by saving s; exact.
  int SaveShift(int s) const { return save_shift_[s]; }
  // Slots taken by keeping act[k] in [s, ..]; may be -1.
  int KeepShift(int s, int k, Rounding rounding) const {
    const int64_t half = rounding == Rounding::kNearest ? size_ / 2 : 0;
    return static_cast<int>(
        std::min(DivideDown(act_[k] + offset_[k] - offset_[s] + half), kMax));
  }
  // The bytes that KeepShift leaves out when it rounds down.
  int64_t Lost(int s, int k) const {
    const int64_t bytes = act_[k] + offset_[k] - offset_[s];
    return bytes - DivideDown(bytes) * size_;
  }
  int64_t offset(int s) const { return offset_[s]; }
  // How far `bytes` is below the top of its slot j, in slots: [0, 1).
  double Rest(int s, int64_t bytes, int j) const {
    return static_cast<double>(j * size_ + offset_[s] - bytes) /
           static_cast<double>(size_);
  }

 private:
  // More than any table has; sums of two fit an int.
  static constexpr int64_t kMax = int64_t{1} << 29;

  int64_t DivideDown(int64_t bytes) const {
    return bytes / size_ - (bytes % size_ < 0 ? 1 : 0);
  }

  int64_t size_;
  std::vector<int64_t> act_;
  std::vector<int64_t> offset_;
  std::vector<int> top_;
  std::vector<int> save_shift_;
};

// A schedule keeps act[k] in an interval from s on.
struct Kept {
  int s;
  int k;
};

// A number of slots up to `max_slots`, and not much fewer. It is the one that
// rounds away the least of what a good schedule keeps. The time of that
// schedule is then bounded well, and that of similar ones with it. Chains of
// equal layers fit some grids far better.
int ChooseSlots(const Costs& costs, int64_t memory, int max_slots,
                const std::vector<Kept>& schedule);

}  // namespace meshwright::checkpoint

#endif  // MESHWRIGHT_PLANNER_CHECKPOINT_SLOT_GRID_H_
