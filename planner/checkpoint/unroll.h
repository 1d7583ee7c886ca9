// Unroll: from decisions about intervals to the operations of a schedule.
#ifndef MESHWRIGHT_PLANNER_CHECKPOINT_UNROLL_H_
#define MESHWRIGHT_PLANNER_CHECKPOINT_UNROLL_H_

#include <cstdint>
#include <functional>

#include "planner/checkpoint/costs.h"
#include "planner/checkpoint/operation.h"

namespace meshwright::checkpoint {

struct Interval {
  int s = 0;
  int t = 0;
  int64_t memory = 0;
};

inline constexpr int kSave = -1;
inline constexpr int kSaveAll = -2;

// k: keep at k; kSave: save s; kSaveAll: save every stage of the interval.
// An interval of one stage is saved without asking.
using Decide = std::function<int(const Interval&)>;

Sequence Unroll(const Costs& costs, int64_t memory, const Decide& decide);

}  // namespace meshwright::checkpoint

#endif  // MESHWRIGHT_PLANNER_CHECKPOINT_UNROLL_H_
