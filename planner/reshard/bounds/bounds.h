// Bounds: times that no schedule beats.
//
//   receiver   what a receiver must take in, per link
//   senders    for a set S of senders: the tasks that only S holds, per link of
//              S; the largest over all S comes from a minimum cut
//   grid       all starts are sums of durations, so makespans are multiples of
//              their greatest common divisor
//
// All hold for unequal speeds with the least duration over a task's senders.
// Stronger bounds: clique.h, balance_bound.h.
#ifndef MESHWRIGHT_PLANNER_RESHARD_BOUNDS_BOUNDS_H_
#define MESHWRIGHT_PLANNER_RESHARD_BOUNDS_BOUNDS_H_

#include "planner/reshard/problem/instance.h"

namespace meshwright::reshard {

Ticks ComputeReceiverBound(const Instance& instance);

// Two figures per task and sender enter one maximum flow or a few.
Ticks ComputeSenderBound(const Instance& instance);

// The greatest common divisor of all durations; 1 without jobs.
Ticks FindGrid(const Instance& instance);
inline Ticks RoundUp(Ticks bound, Ticks grid) {
  return (bound + grid - 1) / grid * grid;
}

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_BOUNDS_BOUNDS_H_
