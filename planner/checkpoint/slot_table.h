// SlotTable: a lower bound on the time run twice, per interval and slot.
//
// Concept: the dynamic program of costs.h over slots of memory (slot_grid.h).
// It holds value(s, t, j), which is no more than the cost of [s, t] in any
// memory of slot j or below. Kept is only what is neither impossible (below the
// least memory) nor 0 (all saved), both known in exact bytes. A way whose
// repeated forwards alone cost as much as what is known is not looked at.
// Intervals are filled in square tiles along the diagonal, so that most
// operands are in the cache, and tiles of one diagonal in parallel. Numbers:
// single precision. Every cost is a sum of at most 2n + 1 rounded additions,
// each off by a factor of at most 1 + 2^-24. LowerBound takes it back. Cost:
// the cube of the stages times the slots.
#ifndef MESHWRIGHT_PLANNER_CHECKPOINT_SLOT_TABLE_H_
#define MESHWRIGHT_PLANNER_CHECKPOINT_SLOT_TABLE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include "base/deadline.h"
#include "planner/checkpoint/costs.h"
#include "planner/checkpoint/min_kernels.h"
#include "planner/checkpoint/min_memory.h"
#include "planner/checkpoint/slot_grid.h"

namespace meshwright::checkpoint {

class SlotTable {
 public:
  static constexpr float kNever = std::numeric_limits<float>::infinity();

  // Fewer slots than asked for if the table would be larger than `max_bytes`.
  // Borrows the costs; `memory` is filled, and borrowed until Fill is over.
  SlotTable(const Costs& costs, const MinMemory& memory, int64_t free_bytes,
            int slots, Rounding rounding, int64_t max_bytes);

  // Once; before it the table has nothing. False: interrupted, and the table is
  // of no use.
  bool Fill(int threads, const base::Deadline& deadline);

  const SlotGrid& grid() const { return grid_; }
  // The slots that [s, t] has figures for: from first, up to end; 0 from zero.
  int first(size_t interval) const { return entries_[interval].first; }
  int zero(size_t interval) const { return entries_[interval].zero; }
  // kNever where [s, t] has no schedule in the slot; above the last slot the
  // value of the last.
  float value(int s, int t, int slot) const;

  // Of the whole chain; certified.
  int64_t LowerBound() const;

 private:
  struct Entry {
    size_t begin;  // of the figures, in figures_
    int first;
    int zero;
  };
  // An interval as operand or result: figures[j] holds for first <= j < end.
  struct Line {
    float* figures;
    int first;
    int end;
  };
  struct AlignedDelete {
    void operator()(float* figures) const {
      ::operator delete[](figures, std::align_val_t(64));
    }
  };
  // All that keeping at k from s on has in common for every t.
  struct Way {
    int k;
    float cost;
    int shift;
    double need;  // in slots above the offset, without the gradient
    Line early;   // [s, k-1]
  };
  int end(int s, const Entry& entry) const {
    return std::min(entry.zero, grid_.top(s) + 1);
  }
  // The three: false if interrupted.
  bool LayOut(const base::Deadline& deadline);
  bool PlaceAll(const base::Deadline& deadline, size_t& total);
  bool SetWays(const base::Deadline& deadline);
  Line FindLine(int s, int t) const;
  Way FindWay(int s, int k) const;
  void FillTile(int row, int column, const base::Deadline& deadline);
  void Keep(const Way& way, int t, const Line& out, int end);
  void Finish(int s, int t, const Line& out);

  const Costs& costs_;
  const MinMemory& memory_;
  const int64_t free_bytes_;
  const int slots_;
  const Rounding rounding_;
  const int64_t max_bytes_;
  const MinKernels kernels_;
  SlotGrid grid_;
  double per_slot_ = 1;  // 1 / size
  // By interval.
  const std::unique_ptr<Entry[]> entries_;
  const std::unique_ptr<int[]> keep_shift_;
  const std::unique_ptr<double[]> keep_need_;
  std::vector<double> gradient_;  // in slots, per t
  std::unique_ptr<float[], AlignedDelete> figures_;
};

}  // namespace meshwright::checkpoint

#endif  // MESHWRIGHT_PLANNER_CHECKPOINT_SLOT_TABLE_H_
