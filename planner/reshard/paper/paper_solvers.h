// PaperSolvers: the algorithms of the paper, for comparison, as it states them.
//
// ScheduleNaively: the first sender of each task, in the order given.
// ScheduleByLoad: longest first to the sender with the least load, in that
// order; it balances senders only, and greedily, so neither Eq. 1 nor Eq. 4 is
// solved exactly. SearchDepthFirst: every order and sender, pruned by the load
// of single ports. ScheduleRandomly: round by round a set of tasks that share
// no port, of those drawn the one that occupies the most ports. Source:
// papers/cross_mesh_resharding.txt 3.2.
#ifndef MESHWRIGHT_PLANNER_RESHARD_PAPER_PAPER_SOLVERS_H_
#define MESHWRIGHT_PLANNER_RESHARD_PAPER_PAPER_SOLVERS_H_

#include <cstdint>

#include "base/deadline.h"
#include "planner/reshard/problem/instance.h"

namespace meshwright::reshard {

Order ScheduleNaively(const Instance& instance);

Order ScheduleByLoad(const Instance& instance);

struct Searched {
  Order order;
  bool complete = false;  // nothing was left out: no order is better
};

// The best of the first `nodes` nodes; the first leaf is that of
// ScheduleByLoad.
Searched SearchDepthFirst(const Instance& instance, int64_t nodes,
                          const base::Deadline& deadline);

// `draws` sets per round; the same seed gives the same order.
Order ScheduleRandomly(const Instance& instance, uint64_t seed, int draws,
                       const base::Deadline& deadline);

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_PAPER_PAPER_SOLVERS_H_
