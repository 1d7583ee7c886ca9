// Bounds: times that no schedule beats.
//
//   receiver   what a receiver must take in, per link
//   senders    for a set S of senders: the tasks that only S holds, per link of
//              S; the largest over all S comes from a minimum cut
//   clique     tasks no two of which may overlap, whoever sends: they share a
//              receiver, or have only one and the same sender (ports of one
//              link). The heaviest set found; each is a bound.
//   balance    Eq. 4 solved exactly, which longest-first does not: a link of a
//              sender for every job, whose speed counts at its receivers too
//              as do jobs that nothing else of the sender can go beside
//   packing    the jobs of a port of several links, a link for each
//   grid       all starts are sums of durations, so makespans are multiples of
//              their greatest common divisor
//
// All but balance hold for unequal speeds with the least duration over a task's
// senders.
#ifndef MESHWRIGHT_PLANNER_RESHARD_BOUNDS_H_
#define MESHWRIGHT_PLANNER_RESHARD_BOUNDS_H_

#include <cstdint>
#include <limits>
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

// Where the least of something lies that is searched for within `nodes` nodes:
// `floor` is known, and is the answer where they do not decide; nothing at
// `ceiling` or above is looked for, and is the answer where nothing is below.
struct Within {
  Ticks floor = 0;
  Ticks ceiling = std::numeric_limits<Ticks>::max();
  int64_t nodes = 0;
};

// No choice of senders, and of one link of theirs for every job, keeps links,
// receivers and cliques occupied for less.
Ticks BalanceBound(const Instance& instance, const Within& within,
                   const std::vector<std::vector<int>>& cliques,
                   const problem::Interrupt& interrupt);

// What goes into a port of several links cannot be shared out better.
Ticks PackingBound(const Instance& instance, Within within,
                   const problem::Interrupt& interrupt);

// The greatest common divisor of all durations; 1 without jobs.
Ticks Grid(const Instance& instance);
inline Ticks RoundUp(Ticks bound, Ticks grid) {
  return (bound + grid - 1) / grid * grid;
}

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_BOUNDS_H_
