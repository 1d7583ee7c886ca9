// LeastMean: what a step of the cheapest closed walk costs, rounded down.
//
// Concept: as long as steps less a mean make a closed walk of negative cost,
// the mean of that walk is less; it is taken next.
// In → Out: the cost of each step (kNever: forbidden), closed walks known → the
// mean; with it taken off every step, no closed walk costs less than nothing.
// Without a closed walk, some number for which that holds.
#ifndef MESHWRIGHT_PLANNER_SEARCH_LEAST_MEAN_H_
#define MESHWRIGHT_PLANNER_SEARCH_LEAST_MEAN_H_

#include <vector>

#include "planner/search/costs.h"

namespace meshwright::search {

// A closed walk lists each of its vertices once; the last leads to the first.
using Closed = std::vector<int>;

Cost LeastMean(const Matrix& steps, const std::vector<Closed>& known);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_LEAST_MEAN_H_
