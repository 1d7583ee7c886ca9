// ChooseHeld: the variables of one component to hold, so that paths remain.
//
// In → Out: the variables and joins of a connected component → those held.
// Concept: a variable with three joins, or a cycle, is no path. Of such a
// variable and the ends of three of its joins at least one is held: branch on
// which. In what then has at most two joins everywhere, a cycle is opened at
// its variable of fewest configurations. Runs are never cut.
// Deterministic: depends on the order of variables and joins only.
#ifndef MESHWRIGHT_PLANNER_SEARCH_HOLDING_H_
#define MESHWRIGHT_PLANNER_SEARCH_HOLDING_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "planner/search/graph.h"

namespace meshwright::search {

struct Held {
  std::vector<int> variables;
  int64_t combinations = 1;
};

// Marks per variable, all false between calls, so that a call costs no more
// than its component.
struct Marks {
  std::vector<bool> held;
  std::vector<bool> seen;
};

// joins_of[v] lists the joins of variable v. Empty when no choice within
// `most` combinations was found.
std::optional<Held> ChooseHeld(const Graph& graph,
                               const std::vector<std::vector<int>>& joins_of,
                               const std::vector<int>& component, int64_t most,
                               Marks& marks);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_HOLDING_H_
