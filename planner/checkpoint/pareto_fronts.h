// ParetoFronts: the exact trade of memory against time run twice, per interval.
//
// Concept: the dynamic program of costs.h in bytes. The cost of an interval as
// a function of its memory falls in steps; a front holds the steps. Two parts
// are added step by step, and ways are compared by merging. Only steps that
// Outside holds alive are kept. The answer is thus exact whenever some schedule
// is no slower than the one that Outside was given. Elsewhere costs may be
// missing or too high. Cost: stages^3 times the steps of a front; a few hundred
// are usual.
#ifndef MESHWRIGHT_PLANNER_CHECKPOINT_PARETO_FRONTS_H_
#define MESHWRIGHT_PLANNER_CHECKPOINT_PARETO_FRONTS_H_

#include <cstdint>
#include <vector>

#include "base/deadline.h"
#include "planner/checkpoint/costs.h"
#include "planner/checkpoint/min_memory.h"
#include "planner/checkpoint/outside.h"
#include "planner/checkpoint/unroll.h"

namespace meshwright::checkpoint {

class ParetoFronts {
 public:
  enum class Outcome { kDone, kInterrupted, kTooManySteps };

  // Everything named outlives this.
  ParetoFronts(const Costs& costs, const MinMemory& memory,
               const Outside& outside);

  // Gives up after looking at `max_steps` steps.
  Outcome Fill(int64_t max_steps, const base::Deadline& deadline);

  // Exact decisions. Ties: save before keep, then the earliest k.
  Decision Decide(const Interval& interval) const;

 private:
  struct Step {
    int64_t bytes;  // from these on ...
    int64_t cost;   // ... no more than this is run twice
  };
  using Front = std::vector<Step>;  // bytes rise, costs fall

  void FillOne(int s, int t);
  void Save(int s, int t, const Outside::Window& window);
  void Keep(int s, int k, int t, int64_t from, int64_t last);
  // The largest int64_t: not to be had, or not known.
  int64_t Cost(const Interval& interval) const;

  const Costs& costs_;
  const MinMemory& memory_;
  const Outside& outside_;
  std::vector<Front> fronts_;
  Front best_;
  Front merged_;
  int64_t steps_ = 0;
};

}  // namespace meshwright::checkpoint

#endif  // MESHWRIGHT_PLANNER_CHECKPOINT_PARETO_FRONTS_H_
