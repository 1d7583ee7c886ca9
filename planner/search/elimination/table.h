// Table: costs over the values of several variables, and how one goes.
//
// Concept: a table is row-major over its scope, the last variable fastest. A
// view reads a table, or a join's matrix, with any strides. Eliminate adds up
// views and takes the minimum over one variable. Its result is laid out for the
// next elimination that reads it. The scope's variable that goes first comes
// first, so that this one's inner loop again runs over neighbouring entries.
// Threads and ownership: views borrow what they read.
#ifndef MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_TABLE_H_
#define MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_TABLE_H_

#include <cstdint>
#include <vector>

#include "base/deadline.h"
#include "planner/search/graph/costs.h"

namespace meshwright::search {

struct Table {
  std::vector<int> scope;
  std::vector<Cost> costs;
};

struct View {
  std::vector<int> scope;
  std::vector<int64_t> strides;
  const Cost* costs = nullptr;

  // Of `variable`; 0 if it is not in the scope.
  int64_t Stride(int variable) const;
  // Where the entry of these values is; values by variable.
  int64_t Offset(const std::vector<int>& values) const;
};

// Per variable: its number of values, and its position in the order.
struct Shape {
  std::vector<int> sizes;
  std::vector<int> positions;
};

// The product of sizes, held at a number that no table reaches.
int64_t CountEntries(const std::vector<int>& scope, const Shape& shape);

View MakeView(const Table& table, const Shape& shape);

// The sum of views over a scope, laid out in its order.
Table SumOver(const std::vector<int>& scope, const std::vector<View>& views,
              const Shape& shape, const base::Deadline& deadline);

// The minimum over `variable` of `own` and all views; its scope is theirs
// without the variable. Empty costs when the deadline stopped it.
Table Eliminate(int variable, const std::vector<Cost>& own,
                std::vector<View> views, const Shape& shape,
                const base::Deadline& deadline);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_TABLE_H_
