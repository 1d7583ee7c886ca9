// OrderFullestFirst: jobs of the fullest ports first, the longest of a port
// first, each into the earliest gap that its ports share (Timelines). The
// senders are given. Exact where one port alone decides; the start of other
// searches.
#ifndef MESHWRIGHT_PLANNER_RESHARD_HEURISTICS_FULLEST_FIRST_H_
#define MESHWRIGHT_PLANNER_RESHARD_HEURISTICS_FULLEST_FIRST_H_

#include <vector>

#include "planner/reshard/problem/instance.h"

namespace meshwright::reshard {

// `choices`: per job.
Order OrderFullestFirst(const Instance& instance,
                        const std::vector<int>& choices);

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_HEURISTICS_FULLEST_FIRST_H_
