// Marginals: what the best choice through each place costs.
//
// Concept: exact buckets say, for the places of a bucket's scope, the best of
// what was eliminated before it. From the last bucket back, the best of
// everything else is found for the same places; the two make up whole choices.
// In → Out: exact buckets → cost by variable and place; kNever: forbidden.
// Empty if the deadline stopped it.
// Cost: some three times that of the elimination.
#ifndef MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_MARGINALS_H_
#define MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_MARGINALS_H_

#include <vector>

#include "base/deadline.h"
#include "planner/search/elimination/buckets.h"

namespace meshwright::search {

std::vector<std::vector<Cost>> Marginals(const Buckets& buckets,
                                         const base::Deadline& deadline);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_MARGINALS_H_
