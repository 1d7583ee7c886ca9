// FindCheapestPath: the fastest conversion, by uniform-cost search with a
// bound.
//
// In → Out: a valid problem → the path of least time, or none if no legal
// steps lead to the target. A search that is cut short gives the best path it
// met, or that of the heuristic, with its lower bound.
// Ties: among paths of equal time in integer picoseconds the one of fewest
// steps. Among those the one whose list of specs is smallest as nested lists.
// Threads: any number at once; nothing is shared.
// Errors: kOutOfRange when every path takes longer than problem::kMaxTime;
// kResourceExhausted when the search was cut short and has no path at all.
// Source: papers/map_colossal_auto.txt 4.3, which descends greedily instead
// (greedy_path.h).
#ifndef MESHWRIGHT_PLANNER_LAYOUT_CHEAPEST_PATH_H_
#define MESHWRIGHT_PLANNER_LAYOUT_CHEAPEST_PATH_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "base/deadline.h"
#include "planner/layout/layout_problem.h"

namespace meshwright::layout {

// The bounds that end a search. Work is counted in steps tried, so that the
// same problem gets the same answer on any machine unless a deadline is set.
struct SearchOptions {
  base::Deadline deadline;
  int64_t max_steps = 200'000'000;  // six axes take up to 90 million
};

absl::StatusOr<Conversion> FindCheapestPath(const LayoutProblem& problem,
                                            const SearchOptions& options = {});

}  // namespace meshwright::layout

#endif  // MESHWRIGHT_PLANNER_LAYOUT_CHEAPEST_PATH_H_
