// MinPlus kernels: the inner loops of every search, over rows of costs.
//
// Concept: rows lie `stride` apart in memory. Both loops saturate by
// themselves: a sum of kNever or more is never below the kNever they start at.
// Units: none; entries and bases are at most 2 * kNever in sum.
// Threads: pure functions. The widest instructions of the machine are chosen
// at run time; all give the same integers.
#ifndef MESHWRIGHT_PLANNER_SEARCH_GRAPH_MIN_PLUS_H_
#define MESHWRIGHT_PLANNER_SEARCH_GRAPH_MIN_PLUS_H_

#include <cstdint>
#include <vector>

#include "planner/search/graph/costs.h"

namespace meshwright::search {

struct Rows {
  const Cost* first = nullptr;
  int64_t stride = 0;
  int count = 0;
  int columns = 0;
};

// out[i] = min(out[i], base[j] + row j [i]) over all rows j.
void MinOverRows(const Rows& rows, const Cost* base, Cost* out);

// out[j] = min(kNever, row j [i] + next[i]) over all columns i.
void MinOverColumns(const Rows& rows, const Cost* next, Cost* out);

// out[c] = min over d of link(c, d) + next[d].
std::vector<Cost> MinPlus(const MatrixView& link,
                          const std::vector<Cost>& next);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_GRAPH_MIN_PLUS_H_
