// SolveMemoryConstrained: the fastest plan within a memory limit, with a
// certified bound.
//
// Concept: the limit holds the sum of bytes plus the largest transient. So the
// search branches on where the largest transient lies, [low, high]. Values
// above `high` go, and what is left for bytes is the limit less `low`. In each
// range bytes get a multiplier (Lagrange). The minimum of time plus charged
// bytes, less the cost of the byte budget, bounds every plan of the range from
// below. The multiplier that makes it largest is found by crossing the lines of
// two plans. The range of the least bound is halved until it is one transient;
// then labels prove the best plan of it (labels.h). All figures are integers
// and rounded down, so the bound is certified.
// In → Out: a laid-out model, the limit, a plan that fits → a better one, and
// the bound of all.
// Errors: none. Where the deadline or the work budget ends the search, the
// bound stays below the time.
// Source: Handler and Zang (1980), for the multipliers.
#ifndef MESHWRIGHT_PLANNER_SEARCH_CONSTRAINED_MEMORY_CONSTRAINED_H_
#define MESHWRIGHT_PLANNER_SEARCH_CONSTRAINED_MEMORY_CONSTRAINED_H_

#include <cstdint>

#include "base/deadline.h"
#include "planner/search/graph/footprint.h"
#include "planner/search/graph/model.h"
#include "planner/search/graph/work_budget.h"

namespace meshwright::search {

// `model` is that of all slots; `fastest` is a plan that does not fit.
// `incumbent` holds one that does, and a bound; both are improved, and equal at
// the end if the plan is optimal.
void SolveMemoryConstrained(const Model& model, int64_t limit_bytes,
                            const Point& fastest, const WorkBudget& work,
                            const base::Deadline& deadline,
                            Incumbent& incumbent);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_CONSTRAINED_MEMORY_CONSTRAINED_H_
