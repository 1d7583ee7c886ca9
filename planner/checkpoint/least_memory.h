// LeastMemory: what each interval needs at least, and to run nothing twice.
//
// Concept: exact bytes. least(s, t) is the least memory of any
// memory-persistent schedule of [s, t] (costs.h); full(s, t) what saving every
// stage takes. Cost: the cube of the stages, some 0.4 s for 1,200; a verdict
// needs it, so no deadline cuts it short.
#ifndef MESHWRIGHT_PLANNER_CHECKPOINT_LEAST_MEMORY_H_
#define MESHWRIGHT_PLANNER_CHECKPOINT_LEAST_MEMORY_H_

#include <cstdint>
#include <vector>

#include "planner/checkpoint/costs.h"

namespace meshwright::checkpoint {

class LeastMemory {
 public:
  explicit LeastMemory(const Costs& costs);

  int64_t least(int s, int t) const { return least_[costs_.Index(s, t)]; }
  int64_t full(int s, int t) const { return full_[costs_.Index(s, t)]; }

 private:
  const Costs& costs_;
  std::vector<int64_t> least_;
  std::vector<int64_t> full_;
};

// full(0, n-1), in linear time.
int64_t FullMemory(const Costs& costs);

}  // namespace meshwright::checkpoint

#endif  // MESHWRIGHT_PLANNER_CHECKPOINT_LEAST_MEMORY_H_
