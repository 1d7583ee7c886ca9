// MinMemory: the plan that needs the fewest bytes.
//
// Concept: the limit holds the sum of bytes plus the largest transient. So the
// sum is minimised with transients capped, from the largest cap down; a plan's
// own largest transient is the next cap.
// In → Out: a graph → the least peak and its plan, or a bound where the search
// is stopped.
// Units: bytes.
// Errors: none.
#ifndef MESHWRIGHT_PLANNER_SEARCH_CONSTRAINED_MIN_MEMORY_H_
#define MESHWRIGHT_PLANNER_SEARCH_CONSTRAINED_MIN_MEMORY_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "base/deadline.h"
#include "planner/search/elimination/min_sum.h"

namespace meshwright::search {

// Bytes alone; forbidden pairs and transients above the bound are kNever.
Costs ComputeByteCosts(const Graph& graph, int64_t max_transient);

struct MinMemory {
  // Of the plan of least memory found; the largest int64_t if none was.
  int64_t peak_bytes = std::numeric_limits<int64_t>::max();
  std::vector<int> slots;
  int64_t bound_bytes = 0;  // no plan needs less
  bool is_exact = true;
};

// Stopped, it may not be exact; it still says whether a plan fits `limit_bytes`
// if no pair is forbidden.
MinMemory FindMinMemory(const Graph& graph,
                        const std::vector<Component>& components,
                        int64_t limit_bytes, const WorkBudget& work,
                        const base::Deadline& deadline);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_CONSTRAINED_MIN_MEMORY_H_
