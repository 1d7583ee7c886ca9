// SolveLimitedLine: the fastest plan of long runs of copies within a limit.
//
// Concept: as limited.h, ranges of the largest transient are priced and halved;
// but a price is tried on runs folded (min_sum.h), and where the transient is
// settled detours (detours.h) prove the best plan, near the bound first. Both
// cost little more for a thousand copies than for a dozen.
// In → Out: a graph of paths, the limit, a plan that fits → a better one, and
// the bound of all.
// Errors: none. Stopped or out of effort, the bound stays below the time.
#ifndef MESHWRIGHT_PLANNER_SEARCH_LIMITED_LINE_H_
#define MESHWRIGHT_PLANNER_SEARCH_LIMITED_LINE_H_

#include <cstdint>
#include <vector>

#include "planner/search/blocks.h"
#include "planner/search/effort.h"
#include "planner/search/memory.h"
#include "planner/search/min_sum.h"
#include "planner/search/until.h"

namespace meshwright::search {

// `line` is that of the graph; `fastest` is a plan that does not fit.
// `incumbent` holds one that does, and a bound; both are improved, and equal at
// the end if the plan is optimal.
void SolveLimitedLine(const Graph& graph,
                      const std::vector<Component>& components,
                      const Line& line, int64_t limit_bytes,
                      const MinSumResult& fastest, const Effort& effort,
                      const Until& until, Incumbent& incumbent);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_LIMITED_LINE_H_
