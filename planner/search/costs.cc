#include "planner/search/costs.h"

namespace meshwright::search {

std::vector<Cost> MinPlus(const Link& link, const std::vector<Cost>& next) {
  const Matrix& matrix = *link.matrix;
  const Cost* entries = matrix.entries.data();
  if (link.transposed) {
    std::vector<Cost> out(matrix.columns, kNever);
    for (int d = 0; d < matrix.rows; ++d, entries += matrix.columns) {
      if (next[d] >= kNever) continue;
      for (int c = 0; c < matrix.columns; ++c) {
        out[c] = std::min(out[c], entries[c] + next[d]);
      }
    }
    return out;
  }
  std::vector<Cost> out(matrix.rows, kNever);
  for (int c = 0; c < matrix.rows; ++c, entries += matrix.columns) {
    Cost best = kNever;
    for (int d = 0; d < matrix.columns; ++d) {
      best = std::min(best, entries[d] + next[d]);
    }
    out[c] = best;
  }
  return out;
}

}  // namespace meshwright::search
