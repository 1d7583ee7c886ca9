// Bounds: times that no schedule beats.
//
//   receiver   what a receiver must take in, per link
//   senders    for a set S of senders: the tasks that only S holds, per link of
//              S; the largest over all S comes from a minimum cut
//   clique     tasks no two of which may overlap, whoever sends: they share a
//              receiver, or have only one and the same sender (ports of one
//              link). The heaviest set found; each is a bound.
//   balance    Eq. 4 solved exactly, which longest-first does not
//   grid       all starts are sums of durations, so makespans are multiples of
//              their greatest common divisor
//
// All hold for unequal speeds with the least duration over a task's senders.
#ifndef MESHWRIGHT_PLANNER_RESHARD_BOUNDS_H_
#define MESHWRIGHT_PLANNER_RESHARD_BOUNDS_H_

#include <cstdint>
#include <vector>

#include "planner/problem/interrupt.h"
#include "planner/reshard/instance.h"

namespace meshwright::reshard {

Ticks ReceiverBound(const Instance& instance);

// Two figures per task and sender enter one maximum flow or a few.
Ticks SenderBound(const Instance& instance);

// Jobs no two of which overlap in any schedule.
struct Clique {
  std::vector<int> jobs;
  Ticks ticks = 0;
};

// The heaviest found within `nodes` nodes of a branch and bound; beyond a few
// hundred jobs by local search alone.
Clique HeaviestClique(const Instance& instance, int64_t nodes,
                      const problem::Interrupt& interrupt);

// No schedule balances the senders better. At least `floor`: it is returned as
// soon as senders can stay within it, and where `nodes` nodes do not decide.
Ticks BalanceBound(const Instance& instance, Ticks floor, int64_t nodes,
                   const problem::Interrupt& interrupt);

// The greatest common divisor of all durations; 1 without jobs.
Ticks Grid(const Instance& instance);
inline Ticks RoundUp(Ticks bound, Ticks grid) {
  return (bound + grid - 1) / grid * grid;
}

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_BOUNDS_H_
