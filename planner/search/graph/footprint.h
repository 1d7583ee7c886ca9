// Footprint: what a plan of a graph needs in memory, and the best plan so far.
//
// Units: bytes, picoseconds.
// Threads: pure functions and plain values.
#ifndef MESHWRIGHT_PLANNER_SEARCH_GRAPH_FOOTPRINT_H_
#define MESHWRIGHT_PLANNER_SEARCH_GRAPH_FOOTPRINT_H_

#include <cstdint>
#include <vector>

#include "planner/search/graph/graph.h"

namespace meshwright::search {

struct Footprint {
  int64_t bytes = 0;      // persistent + saved, over all copies
  int64_t transient = 0;  // the largest

  int64_t peak() const;  // held at the largest int64_t
};

Footprint ComputeFootprint(const Graph& graph, const std::vector<int>& slots);

// No plan's largest transient is below this.
int64_t ComputeMinTransient(const Graph& graph);

// A plan as a line over multipliers: time + multiplier * bytes.
struct Point {
  Cost time = 0;
  int64_t bytes = 0;
};

// The best plan known to fit, and how good a plan can be.
struct Incumbent {
  Cost time = kNever;
  int64_t bytes = 0;  // persistent and saved
  std::vector<int> slots;
  Cost lower_bound = 0;
};

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_GRAPH_FOOTPRINT_H_
