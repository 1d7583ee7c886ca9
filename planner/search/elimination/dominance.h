// Reduce: values that no best plan needs.
//
// Concept: a value goes when a join forbids it with every value of a
// neighbour, or when another value of the same variable is at least as good
// whatever the neighbours take: the worst difference over the rows of all its
// joins is not positive, and it needs no more bytes. Of equals the smaller
// configuration stays, so the lexicographically smallest best plan survives.
// Variables alike in domain and joins are decided once.
// In → Out: a model → one with the same best plans, at most as large.
#ifndef MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_DOMINANCE_H_
#define MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_DOMINANCE_H_

#include "base/deadline.h"
#include "planner/search/graph/model.h"

namespace meshwright::search {

// `with_memory`: bytes and transients count, as under a limit.
Model Reduce(Model model, bool with_memory, const base::Deadline& deadline);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_DOMINANCE_H_
