// SolveLimitedLine: the fastest plan of long runs of copies within a limit.
//
// Concept: a graph of paths is one line, searched by line_search.h, which costs
// little more for a thousand copies than for a dozen. A graph that is several
// lines once a few variables are settled (settle.h) is searched for all of them
// together: the one of the least bound takes the next step, and most are never
// fast enough to take any.
// In → Out: a graph, the limit, a plan that fits → a better one, and the bound
// of all.
// Errors: none. Stopped or out of effort, the bound stays below the time.
#ifndef MESHWRIGHT_PLANNER_SEARCH_LIMITED_LINE_H_
#define MESHWRIGHT_PLANNER_SEARCH_LIMITED_LINE_H_

#include <cstdint>
#include <vector>

#include "planner/search/effort.h"
#include "planner/search/memory.h"
#include "planner/search/min_sum.h"
#include "planner/search/until.h"

namespace meshwright::search {

// `fastest` is a plan that does not fit. `incumbent` holds one that does, and a
// bound; both are improved, and equal at the end if the plan is optimal. False
// if the graph is of another kind; nothing has happened then.
bool SolveLimitedLine(const Graph& graph,
                      const std::vector<Component>& components,
                      int64_t limit_bytes, const MinSumResult& fastest,
                      const Effort& effort, const Until& until,
                      Incumbent& incumbent);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_LIMITED_LINE_H_
