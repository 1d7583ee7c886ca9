// FillRoom: copies that cost one another nothing, fitted to the room for bytes.
//
// Concept: without resharding a plan is a choice for every variable by itself,
// and where time and bytes stand in one ratio, every plan that fills the room
// to the byte is a best one. There are many, but a search that looks at plans
// near the bound looks at all that nearly do. So three variables and three more
// are listed, some hundred thousand sums each, and for every place of a
// seventh, and of an eighth, the two lists are walked against one another:
// millions of sums a millisecond, enough to meet the one that is missing. In →
// Out: a model without joins, a plan that fits → a plan that fits and is no
// slower, of no larger transient; the first met that takes `goal`. Source:
// Horowitz and Sahni (1974), for the two lists.
#ifndef MESHWRIGHT_PLANNER_SEARCH_FILL_ROOM_H_
#define MESHWRIGHT_PLANNER_SEARCH_FILL_ROOM_H_

#include <cstdint>
#include <vector>

#include "planner/search/model.h"
#include "planner/search/until.h"

namespace meshwright::search {

// The fills of one search: few, as each takes some 10 ms.
class Fills {
 public:
  // Whether one may pay, and is left; if so, it is taken. `transients`: how
  // many the largest may be.
  bool Take(const Model& model, int transients, Cost time, Cost bound) {
    return model.joins.empty() && transients == 1 && time > bound &&
           ++taken_ <= kMost;
  }

 private:
  static constexpr int kMost = 3;
  int taken_ = 0;
};

std::vector<int> FillRoom(const Model& model, std::vector<int> places,
                          int64_t limit_bytes, Cost goal, const Until& until);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_FILL_ROOM_H_
