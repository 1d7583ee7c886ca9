// Lagrangian: a plan and a bound by a multiplier on bytes.
//
// Concept: under a limit, bytes get a multiplier (Lagrange). For any
// multiplier, take the minimum of time + multiplier * bytes, less the cost of
// the bytes there are. It is a lower bound of every plan within the limit. The
// multiplier that makes it largest is found by crossing the lines of two plans
// (Handler and Zang). All figures are integers and rounded down, so the bound
// is certified.
// Units: a multiplier is picoseconds per mebibyte.
#ifndef MESHWRIGHT_PLANNER_SEARCH_CONSTRAINED_LAGRANGIAN_H_
#define MESHWRIGHT_PLANNER_SEARCH_CONSTRAINED_LAGRANGIAN_H_

#include <cstdint>
#include <vector>

#include "base/deadline.h"
#include "planner/search/elimination/min_sum.h"
#include "planner/search/graph/footprint.h"
#include "planner/search/graph/model.h"

namespace meshwright::search {

// Time plus charged bytes.
Costs ChargeCosts(const Graph& graph, int64_t multiplier);

// `incumbent` holds a plan that fits `limit_bytes`, `fastest` one that does
// not. Returns the best plan met that is too large.
std::vector<int> SearchMultiplier(const Graph& graph,
                                  const std::vector<Component>& components,
                                  const MinSumResult& fastest,
                                  int64_t limit_bytes, const WorkBudget& work,
                                  const base::Deadline& deadline,
                                  Incumbent& incumbent);

// The fastest mixture of the incumbent and a plan that is too large, polished;
// it becomes the incumbent if it is faster. `model` has a variable per slot.
void MixPlans(const Model& model, const std::vector<int>& too_large,
              int64_t limit_bytes, const base::Deadline& deadline,
              Incumbent& incumbent);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_CONSTRAINED_LAGRANGIAN_H_
