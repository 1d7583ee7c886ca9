// BranchAndBound: the best schedule, or the proof that there is none better.
//
// Concept: schedules are built in order of start times. A node fixes the next
// job and its sender, which start as soon as their ports are free. Cut are:
//   (a) jobs that start when some other job that is left could be over. That
//       one could go first at no cost (Giffler and Thompson, over all senders);
//   (b) jobs that could have started before the last one did, and of jobs that
//       start together any but one order: met under another node;
//   (c) all but the first of jobs or of senders that are alike;
//   (d) nodes whose bound reaches the best. Per receiver and per clique the
//       bound is the jobs left one after another from their earliest starts.
//       Per set of senders it is the work that only they can do in the time
//       they have;
//   (e) nodes where the same jobs were placed before with no link in use
//   longer.
// Children are visited by start. Each of (a), (b), (c), (e) leaves out a
// schedule for one no longer that comes earlier in this order. The first of the
// best ones is therefore never left out.
//
// Limits: up to 64 jobs. Deterministic for a number of nodes.
#ifndef MESHWRIGHT_PLANNER_RESHARD_EXACT_BRANCH_AND_BOUND_H_
#define MESHWRIGHT_PLANNER_RESHARD_EXACT_BRANCH_AND_BOUND_H_

#include <cstdint>
#include <vector>

#include "base/deadline.h"
#include "planner/reshard/problem/instance.h"

namespace meshwright::reshard {

inline constexpr int kMaxJobsExactly = 64;

struct Bounded {
  Order order;
  bool complete = false;  // no order is better
  int64_t nodes = 0;
};

// Betters `order`; stops at `bound`, which no schedule beats. `cliques` are
// sets of jobs no two of which can overlap.
Bounded BranchAndBound(const Instance& instance, const Order& order,
                       Ticks bound,
                       const std::vector<std::vector<int>>& cliques,
                       int64_t nodes, const base::Deadline& deadline);

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_EXACT_BRANCH_AND_BOUND_H_
