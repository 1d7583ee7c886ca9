// The (min,+) numbers of the search: integer costs with a "never".
//
// Concept: solvers add costs and take minima. kNever is the neutral element of
// the minimum: a forbidden pair. Every stored cost is at most kNever, so three
// of them add up without overflow; Clamp brings a sum back. A finite sum that
// reaches kNever (26 days in picoseconds) is treated as never. The search
// reports it as out of range rather than as infeasible.
// Units: picoseconds, or bytes where the least memory is sought.
#ifndef MESHWRIGHT_PLANNER_SEARCH_GRAPH_COSTS_H_
#define MESHWRIGHT_PLANNER_SEARCH_GRAPH_COSTS_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace meshwright::search {

using Cost = int64_t;

inline constexpr Cost kNever = Cost{1} << 61;

inline Cost Clamp(Cost cost) { return std::min(cost, kNever); }

struct Matrix {
  int rows = 0;
  int columns = 0;
  std::vector<Cost> entries;  // row-major

  Cost at(int row, int column) const {
    return entries[static_cast<size_t>(row) * columns + column];
  }
};

// The rows and columns of a matrix, in the order given.
inline Matrix Part(const Matrix& whole, const std::vector<int>& rows,
                   const std::vector<int>& columns) {
  Matrix part{
      static_cast<int>(rows.size()), static_cast<int>(columns.size()), {}};
  part.entries.reserve(rows.size() * columns.size());
  for (const int row : rows) {
    for (const int column : columns) {
      part.entries.push_back(whole.at(row, column));
    }
  }
  return part;
}

// A matrix read forwards or backwards: at(c, d) is the cost from c to d.
struct MatrixView {
  const Matrix* matrix = nullptr;
  bool transposed = false;

  int columns() const { return transposed ? matrix->rows : matrix->columns; }
  Cost at(int from, int to) const {
    return transposed ? matrix->at(to, from) : matrix->at(from, to);
  }
};

inline constexpr int kMultiplierShift = 20;  // multipliers are of a mebibyte

// floor(multiplier * bytes), at most kNever.
inline Cost Charge(int64_t multiplier, int64_t bytes) {
  const __int128 cost =
      (static_cast<__int128>(multiplier) * bytes) >> kMultiplierShift;
  return cost >= kNever ? kNever : static_cast<Cost>(cost);
}

// The multiplier at which `time` more picoseconds are worth `bytes` fewer
// bytes; 0 where either is not positive.
int64_t FindMultiplier(Cost time, int64_t bytes);

// The range of a matrix's entries.
struct Extent {
  Cost min = kNever;
  Cost max = 0;  // of those below kNever
  bool has_never = false;
};

Extent FindExtent(const Matrix& matrix);

// Each with its extent, as reading them all again takes long where they are
// many.
struct MatrixSet {
  std::vector<Matrix> all;
  std::vector<Extent> extents;

  // Its number.
  int Add(Matrix matrix);
};

// Large, and mostly left as they are: shared, not copied.
using Matrices = std::shared_ptr<const MatrixSet>;

// The costs that a search minimises: a vector per unary kind and the matrices.
struct Costs {
  std::vector<std::vector<Cost>> unaries;
  Matrices matrices;

  const Matrix& matrix(int number) const { return matrices->all[number]; }
  const Extent& extent(int number) const { return matrices->extents[number]; }
};

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_GRAPH_COSTS_H_
