#include "planner/search/run_matrices.h"

namespace meshwright::search {
namespace {

Matrix RunMatrix(const Join& join, int unary, const Costs& costs,
                 PowersCache& powers) {
  const std::vector<Cost>& copy = costs.unaries[unary];
  const Matrix& inner = costs.matrix(join.matrix);
  Matrix walks =
      powers.Of(unary, copy, join.matrix, Link{&inner}).Walks(join.between + 1);
  for (int row = 0; row < walks.rows; ++row) {
    for (int column = 0; column < walks.columns; ++column) {
      Cost& cost =
          walks.entries[static_cast<size_t>(row) * walks.columns + column];
      cost = cost >= kNever || copy[row] >= kNever ? kNever : cost - copy[row];
    }
  }
  return walks;
}

}  // namespace

const Matrix& RunMatrices::Of(const Join& join) {
  if (join.between == 0) return costs_.matrix(join.matrix);
  const int unary = graph_.variables[join.from].unary;
  const auto [entry, is_new] =
      runs_.try_emplace({join.matrix, unary, join.between});
  if (is_new) entry->second = RunMatrix(join, unary, costs_, powers_);
  return entry->second;
}

}  // namespace meshwright::search
