// Reorder: the same steps of a walk in the lexicographically smallest order.
//
// Concept: walks of the same steps, as often, from the same start to the same
// end cost the same time and the same bytes. The smallest is found step by
// step: the smallest vertex from which all steps left can still be walked,
// which is so if they hang together, for they go in and out of every vertex as
// often as they must.
// In → Out: a walk, vertex by copy → a walk.
#ifndef MESHWRIGHT_PLANNER_SEARCH_REORDER_H_
#define MESHWRIGHT_PLANNER_SEARCH_REORDER_H_

#include <vector>

namespace meshwright::search {

std::vector<int> SmallestOrder(const std::vector<int>& walk);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_REORDER_H_
