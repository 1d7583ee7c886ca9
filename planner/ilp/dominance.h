// RemoveDominated: the same problem with fewer options and fewer pairs.
//
// Concept: an option goes when every option of a neighbour is forbidden with
// it, when it passes a budget even beside the lightest of all others, or when
// another option of its group costs no more whatever the neighbours take, and
// is no heavier. What is left of a pair table is split into what its rows cost,
// what its columns cost and a rest; a rest of nothing is no pair any more.
// In → Out: a valid problem → a problem whose cheapest choices are among the
// cheapest of the first; the cost of a choice is less by `base`.
#ifndef MESHWRIGHT_PLANNER_ILP_DOMINANCE_H_
#define MESHWRIGHT_PLANNER_ILP_DOMINANCE_H_

#include <cstdint>
#include <vector>

#include "base/deadline.h"
#include "planner/ilp/multiple_choice.h"

namespace meshwright::ilp {

struct Undominated {
  MultipleChoice problem;
  std::vector<std::vector<int>> kept;  // options of the first, by group; rising
  int64_t base = 0;
  bool is_possible = true;  // a group without options is not
  bool is_whole = true;     // else it was stopped: pairs and budgets lack
};

// After the deadline it leaves more options and soon ends: then no choice of
// the first costs less than `base`, and the rest is of no use.
Undominated RemoveDominated(const MultipleChoice& problem,
                            const base::Deadline& deadline = {});

}  // namespace meshwright::ilp

#endif  // MESHWRIGHT_PLANNER_ILP_DOMINANCE_H_
