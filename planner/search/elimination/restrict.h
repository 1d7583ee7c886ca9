// Restrict: a model with fewer values.
//
// Concept: variables keep their numbers. A join that has become constant, or
// has an end with one value left, is absorbed into `base` and the times of the
// other end. Values that it forbids stay in the domain, with a time of kNever.
// In → Out: a model, the values that stay → a model.
#ifndef MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_RESTRICT_H_
#define MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_RESTRICT_H_

#include <vector>

#include "planner/search/graph/model.h"

namespace meshwright::search {

// By variable: the values that stay, rising; an empty list of lists keeps all.
using Keep = std::vector<std::vector<int>>;

Model Restrict(const Model& model, const Keep& keep);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_RESTRICT_H_
