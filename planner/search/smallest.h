// Smallest: of all choices of least cost, the lexicographically smallest.
//
// Concept: exact buckets read backwards say which places of a variable are
// best. Where several are, they are told apart by what the variables of earlier
// turns that hang below it take then; below a variable, slots are nobody
// else's, so the smallest choice of each part makes the smallest of the whole.
// All (variable, places of its scope) that a best choice can meet are settled
// from the leaves up. Beyond kMostMet of them, the smallest place is taken at
// each variable instead, from the roots down.
// In → Out: a model, its exact buckets of finite bound → place by variable.
#ifndef MESHWRIGHT_PLANNER_SEARCH_SMALLEST_H_
#define MESHWRIGHT_PLANNER_SEARCH_SMALLEST_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "planner/search/buckets.h"
#include "planner/search/model.h"

namespace meshwright::search {

inline constexpr int64_t kMostMet = 200'000;

// The configurations of a run's inner copies, from the first on, given those of
// its two ends.
using InnerCopies =
    std::function<const std::vector<int>&(int join, int from, int to)>;

std::vector<int> SmallestPlaces(const Model& model, const Buckets& buckets,
                                const Graph& graph, const InnerCopies& inner);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_SMALLEST_H_
