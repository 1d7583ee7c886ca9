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

struct Decision {
  enum class Kind {
    kSave,     // save s
    kSaveAll,  // save every stage of the interval
    kKeep,     // keep at k
  };
  Kind kind = Kind::kSave;
  int k = 0;
};

// An interval of one stage is saved without asking.
using Decide = std::function<Decision(const Interval&)>;

Sequence Unroll(const Costs& costs, int64_t memory, const Decide& decide);

}  // namespace meshwright::checkpoint

#endif  // MESHWRIGHT_PLANNER_CHECKPOINT_UNROLL_H_
