// LinePrices: the cheapest plan of a line at a price of bytes, and what the
// cheapest through each vertex costs.
//
// Concept: dynamic programming from the last copy back, and from the first on;
// copy by copy, for lines that have few vertices left.
// In → Out: line, price → cost, walks, costs by vertex.
// Units: picoseconds, those of priced bytes included.
#ifndef MESHWRIGHT_PLANNER_SEARCH_LINE_PRICES_H_
#define MESHWRIGHT_PLANNER_SEARCH_LINE_PRICES_H_

#include <cstdint>
#include <vector>

#include "planner/search/blocks.h"
#include "planner/search/loops.h"
#include "planner/search/until.h"

namespace meshwright::search {

class LinePrices {
 public:
  // Borrows the line.
  LinePrices(const Line& line, int64_t price, const Until& until);

  // Else it was stopped, and nothing below means anything.
  bool is_complete() const { return is_complete_; }

  Cost cost() const { return cost_; }  // kNever: every plan is forbidden

  // By block; the cost is finite.
  std::vector<Walk> Walks() const;

  // What the cheapest plan through each vertex costs, by block; empty if
  // stopped.
  std::vector<std::vector<Cost>> Through(const Until& until) const;

 private:
  using Values = std::vector<std::vector<Cost>>;  // by copy and vertex

  const Line& line_;
  const int64_t price_;
  std::vector<Values> left_;  // by block: from the copy on, its own included
  Cost cost_ = kNever;
  bool is_complete_ = false;
};

// The line without the vertices that cost over `most`.
Line Without(const Line& line, const std::vector<std::vector<Cost>>& through,
             Cost most);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_LINE_PRICES_H_
