// Outside: what a schedule costs at least around an interval.
//
// Concept: cost(s, t, j) is for schedules that give [s, t] memory of slot j or
// above. It is no more than what any of them runs twice outside of [s, t].
// Together with what the inside costs it tells which figures of [s, t] can be
// part of a schedule that is no slower than `max_cost`. Those are alive.
// Computed from the whole chain down, as inside and outside costs of a grammar
// are. Cost: as a SlotTable's, on one thread; less where little is alive.
#ifndef MESHWRIGHT_PLANNER_CHECKPOINT_OUTSIDE_H_
#define MESHWRIGHT_PLANNER_CHECKPOINT_OUTSIDE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/deadline.h"
#include "planner/checkpoint/costs.h"
#include "planner/checkpoint/slot_table.h"

namespace meshwright::checkpoint {

class Outside {
 public:
  // `inside` is filled, and outlives this.
  Outside(const Costs& costs, const SlotTable& inside, int64_t max_cost);

  // False: interrupted.
  bool Fill(const base::Deadline& deadline);

  // Whether [s, t] at `cost` when given `bytes` or more can be in a schedule
  // that is no slower than `max_cost`.
  bool Alive(int s, int t, int64_t bytes, int64_t cost) const;
  // The bytes from and up to which something of [s, t] is alive.
  struct Window {
    int64_t first = 0;
    int64_t last = 0;
  };
  // nullopt: nothing of the interval is alive.
  std::optional<Window> AliveBytes(int s, int t) const;

 private:
  // The last slot with a figure of its own; above it saving all is certain.
  int Last(int s, size_t interval) const;
  void Offer(int s, int t, int slot, float cost);
  void PassDown(int s, int t);
  float Cost(int s, size_t interval, int slot) const;

  const Costs& costs_;
  const SlotTable& inside_;
  double max_cost_;
  std::vector<size_t> begin_;
  std::vector<float> figures_;
};

}  // namespace meshwright::checkpoint

#endif  // MESHWRIGHT_PLANNER_CHECKPOINT_OUTSIDE_H_
