// Pareto: the fastest plan within a memory limit, by fronts of labels.
//
// Concept: every path is laid out copy by copy, one path after another. From
// the last copy back, each configuration of each copy keeps the labels (time,
// bytes, largest transient) of the plans of what follows, none dominated by
// another. A label goes when even the best beginning cannot bring it within
// the limit, or cannot beat the incumbent: the beginning is bounded by its
// least time, its least bytes, and its least priced sum (memory.h).
// Fronts are held to a width; a label let go for width alone leaves its bound
// behind, so the answer is exact when none was let go, and has a certified
// lower bound when some were. The width grows until the work bound is reached.
// Ties: the smallest choice along the paths.
// Errors: none.
#ifndef MESHWRIGHT_PLANNER_SEARCH_PARETO_H_
#define MESHWRIGHT_PLANNER_SEARCH_PARETO_H_

#include <cstdint>
#include <vector>

#include "planner/search/memory.h"

namespace meshwright::search {

// Improves `incumbent`, whose plan fits, and raises its lower bound; equal at
// the end if it is optimal.
void ParetoSearch(const Graph& graph, const std::vector<Component>& components,
                  int64_t limit_bytes, const Until& until,
                  Incumbent& incumbent);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_PARETO_H_
