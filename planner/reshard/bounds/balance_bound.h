// ComputeBalanceBound: Eq. 4 of the paper solved exactly, as a lower bound.
//
// Concept: every job takes one link of one sender whole. The sender's speed
// also counts at the job's receivers. Jobs that nothing else of the sender can
// go beside count at the sender. PackingBound is the same for the jobs of a
// receiving port of several links.
// Source: papers/cross_mesh_resharding.txt 3.2, Eq. 4.
#ifndef MESHWRIGHT_PLANNER_RESHARD_BOUNDS_BALANCE_BOUND_H_
#define MESHWRIGHT_PLANNER_RESHARD_BOUNDS_BALANCE_BOUND_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "base/deadline.h"
#include "planner/reshard/problem/instance.h"

namespace meshwright::reshard {

// The range of a minimum that is searched for within `nodes` nodes. `floor` is
// known, and is the answer where the nodes do not decide. Nothing at `ceiling`
// or above is looked for; it is the answer where nothing is below.
struct Within {
  Ticks floor = 0;
  Ticks ceiling = std::numeric_limits<Ticks>::max();
  int64_t nodes = 0;
};

// No choice of senders, and of one link of theirs for every job, keeps links,
// receivers and cliques occupied for less.
Ticks ComputeBalanceBound(const Instance& instance, const Within& within,
                          const std::vector<std::vector<int>>& cliques,
                          const base::Deadline& deadline);

// The tasks of a port of several links cannot be shared out better.
Ticks ComputePackingBound(const Instance& instance, Within within,
                          const base::Deadline& deadline);

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_BOUNDS_BALANCE_BOUND_H_
