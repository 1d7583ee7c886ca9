// Large neighbourhood search: jobs are taken out of a schedule, and each is put
// back where the longest chain through it is shortest (InsertionSchedule).
//
// Concept: a first schedule takes jobs in by falling area, ports times ticks;
// for many small tasks it is at the bound or near. Then a step takes out a job
// of a longest chain and up to eleven that end next to it. It puts them back,
// the largest first. A shorter or equal schedule is kept; a longer one is kept
// with a probability that falls with the steps. How much longer it may be is
// drawn before, so that a step ends at the first job that does not fit.
// Deterministic for a seed and a number of steps. Ends at the bound.
// Threads: pure.
// Source: ruin and recreate, Schrimpf et al. 2000.
#ifndef MESHWRIGHT_PLANNER_RESHARD_HEURISTICS_LARGE_NEIGHBORHOOD_H_
#define MESHWRIGHT_PLANNER_RESHARD_HEURISTICS_LARGE_NEIGHBORHOOD_H_

#include <cstdint>

#include "base/deadline.h"
#include "planner/reshard/problem/instance.h"

namespace meshwright::reshard {

struct ReinsertOptions {
  uint64_t seed = 1;
  int64_t steps = 0;
  Ticks bound = 0;  // no schedule is shorter
};

// The first schedule. Once the deadline has passed, the remaining jobs follow
// in order of their area.
Order LargestFirst(const Instance& instance, uint64_t seed,
                   const base::Deadline& deadline);

// Starts from `order`; the answer is no worse.
Order Reinsert(const Instance& instance, const Order& order,
               const ReinsertOptions& options, const base::Deadline& deadline);

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_HEURISTICS_LARGE_NEIGHBORHOOD_H_
