// LeastMemory: what each interval needs at least, and to run nothing twice.
//
// Concept: exact bytes. least(s, t) is the least memory of any
// memory-persistent schedule of [s, t] (costs.h); full(s, t) what saving every
// stage takes. Until Settle has been at it, least(s, t) is what keeping
// nothing takes: t is kept at while its own turn lasts, then [s, t-1] has what
// there was. Such a schedule is slow, but wherever an interval has its least(),
// settled or not, there is a way on whose parts have theirs.
//
//   needs(s, t) = the largest of what the forwards up to t, with the gradient
//                 of t live, and the backwards of [s, t], each alone, take
//
// No schedule takes less, so where keeping nothing takes as much, and it mostly
// does, nothing is searched.
// Cost: the square of the stages; Settle's, where little is settled by needs(),
// the cube, some 0.5 s for 1,200.
#ifndef MESHWRIGHT_PLANNER_CHECKPOINT_LEAST_MEMORY_H_
#define MESHWRIGHT_PLANNER_CHECKPOINT_LEAST_MEMORY_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "planner/checkpoint/costs.h"
#include "planner/problem/interrupt.h"

namespace meshwright::checkpoint {

class LeastMemory {
 public:
  // Nothing is settled yet. Borrows the costs.
  explicit LeastMemory(const Costs& costs);

  // Makes every least(s, t) exact; false if interrupted before.
  bool Settle(const problem::Interrupt& interrupt = {});

  int64_t least(int s, int t) const { return least_[costs_.Index(s, t)]; }
  int64_t full(int s, int t) const { return full_[costs_.Index(s, t)]; }

 private:
  void SettleRow(int s);
  int64_t Searched(int s, int t, int64_t needs, int64_t most) const;

  const Costs& costs_;
  const std::unique_ptr<int64_t[]> least_;  // by interval
  const std::unique_ptr<int64_t[]> full_;
  std::vector<int64_t> steps_;  // of one s: the largest KeepStep up to each k
  int unsettled_;               // rows before it are
};

// full(0, n-1), in linear time.
int64_t FullMemory(const Costs& costs);

}  // namespace meshwright::checkpoint

#endif  // MESHWRIGHT_PLANNER_CHECKPOINT_LEAST_MEMORY_H_
