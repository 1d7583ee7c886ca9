// Split: tasks cut into parts that several of their holders send.
//
// Concept: all parts of a task go to all its receivers, so cutting does not
// shorten what a receiver takes in; it levels the senders. SplitParts gives
// each sender no more than `target` takes, where that is possible. It uses a
// maximum flow where all speeds are equal, else levelling task by task. Bounds
// of whole tasks hold for parts, with three exceptions. They are the exact
// balance of senders, the grid, and the length of a task none of whose
// receivers has a single link.
#ifndef MESHWRIGHT_PLANNER_RESHARD_SPLIT_H_
#define MESHWRIGHT_PLANNER_RESHARD_SPLIT_H_

#include <vector>

#include "base/deadline.h"
#include "planner/reshard/problem/instance.h"

namespace meshwright::reshard {

// `whole`: the instance of whole tasks.
Ticks ComputeSplitBound(const ReshardProblem& problem, const Instance& whole,
                        const base::Deadline& deadline);

std::vector<Part> SplitParts(const ReshardProblem& problem,
                             const Instance& whole, Ticks target);

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_SPLIT_H_
