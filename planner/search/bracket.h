// Bracket: which price of bytes to try next.
//
// Concept: a plan is a line over prices, time + price * bytes. The best price
// lies where the lines of two plans cross, one too large and one that fits, and
// no plan's line is below (Handler and Zang). The search begins with lines that
// are only guesses, those of a wider range; where such a guess leads no
// farther, steps of growing size find a plan of the range's own.
// In → Out: the price tried and the plan it led to → the next price.
#ifndef MESHWRIGHT_PLANNER_SEARCH_BRACKET_H_
#define MESHWRIGHT_PLANNER_SEARCH_BRACKET_H_

#include <cstdint>
#include <optional>

#include "planner/search/memory.h"

namespace meshwright::search {

class Bracket {
 public:
  // Two guesses, a price near the best, the most to try.
  Bracket(const Point& fast, const Point& small, int64_t around,
          int64_t dearest);

  // Empty when no other price is better.
  std::optional<int64_t> Next(int64_t price, const Point& plan, bool fits);

 private:
  struct Side {
    std::optional<Point> plan;
    bool is_own = false;  // of the range, not a guess
  };

  Side fast_;
  Side small_;
  int guesses_ = 0;  // that led to a price
  int64_t step_;
  int64_t dearest_;
};

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_BRACKET_H_
