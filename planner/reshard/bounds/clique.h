// FindHeaviestClique: a bound from tasks no two of which may overlap, whoever
// sends.
//
// Concept: two tasks conflict if they share a receiver, or have only one and
// the same sender (ports of one link). The durations of a set of tasks that all
// conflict sum to a lower bound; the heaviest set found is the bound.
#ifndef MESHWRIGHT_PLANNER_RESHARD_BOUNDS_CLIQUE_H_
#define MESHWRIGHT_PLANNER_RESHARD_BOUNDS_CLIQUE_H_

#include <cstdint>
#include <vector>

#include "base/deadline.h"
#include "planner/reshard/problem/instance.h"

namespace meshwright::reshard {

// Jobs no two of which overlap in any schedule.
struct Clique {
  std::vector<int> jobs;
  Ticks ticks = 0;
};

// The heaviest found within `nodes` nodes of a branch and bound; beyond a few
// hundred jobs by local search alone.
Clique FindHeaviestClique(const Instance& instance, int64_t nodes,
                          const base::Deadline& deadline);

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_BOUNDS_CLIQUE_H_
