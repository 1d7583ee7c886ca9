// Order: in which order to eliminate the variables of a model.
//
// Concept: eliminating a variable joins its neighbours with one another; the
// table this needs has the product of their domains for a size. Variables with
// at most two neighbours go first, which is never wrong. The rest go greedily,
// by minimum table and, where few are left, by minimum fill; the order of fewer
// steps wins.
// In → Out: a model → a sequence of all its variables, and what it costs.
// Stopped, it tries no more.
// Ties: the variable of the smallest number, the first order found.
#ifndef MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_ORDER_H_
#define MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_ORDER_H_

#include <vector>

#include "base/deadline.h"
#include "planner/search/graph/model.h"

namespace meshwright::search {

struct Order {
  std::vector<int> sequence;
  double steps = 0;    // entries that are looked at, over all tables
  double entries = 0;  // entries that are kept; both infinite if hopeless
};

// The cost of this sequence.
Order CountSteps(const Model& model, const std::vector<int>& sequence);

Order ChooseOrder(const Model& model, const base::Deadline& deadline);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_ORDER_H_
