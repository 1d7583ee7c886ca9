// CheapestPath: the fastest conversion, by uniform-cost search with a bound.
//
// In → Out: a valid problem → the path of least time, or none if no legal
// steps lead to the target.
// Ties: among paths of equal time in integer picoseconds the one of fewest
// steps; among those the one whose list of specs is smallest as nested lists.
// Threads: any number at once; nothing is shared.
// Errors: kResourceExhausted after `most_specs` specs, kOutOfRange when the
// path takes longer than problem::kLongestTime.
// Source: papers/map_colossal_auto.txt 4.3, which descends greedily instead
// (greedy_path.h).
#ifndef MESHWRIGHT_PLANNER_LAYOUT_CHEAPEST_PATH_H_
#define MESHWRIGHT_PLANNER_LAYOUT_CHEAPEST_PATH_H_

#include <vector>

#include "absl/status/statusor.h"
#include "planner/layout/one_step.h"

namespace meshwright::layout {

// Of six axes and four dimensions there are 129,000 specs.
inline constexpr int64_t kMostSpecs = 2'000'000;

absl::StatusOr<Conversion> CheapestPath(const LayoutProblem& problem,
                                        int64_t most_specs = kMostSpecs);

// The path that `steps` make of the source.
Path MakePath(const LayoutProblem& problem, const Tiling& tiling,
              const std::vector<PackedStep>& steps);

}  // namespace meshwright::layout

#endif  // MESHWRIGHT_PLANNER_LAYOUT_CHEAPEST_PATH_H_
