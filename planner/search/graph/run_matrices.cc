#include "planner/search/graph/run_matrices.h"

#include <algorithm>

namespace meshwright::search {
namespace {

Matrix RunMatrix(const Join& join, int unary, const Costs& costs,
                 PowersCache& powers) {
  const std::vector<Cost>& copy = costs.unaries[unary];
  const Matrix& inner = costs.matrix(join.matrix);
  Matrix walks = powers.FindPowers(unary, copy, join.matrix, MatrixView{&inner})
                     .Walks(join.between + 1);
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

const Matrix& RunMatrices::FindMatrix(const Join& join) {
  if (join.between == 0) return costs_.matrix(join.matrix);
  const int unary = graph_.variables[join.from].unary;
  const auto [entry, is_new] =
      runs_.try_emplace({join.matrix, unary, join.between});
  if (is_new) entry->second = RunMatrix(join, unary, costs_, powers_);
  return entry->second;
}

std::vector<int> RunMatrices::Between(const Join& join, int from, int to) {
  if (join.between == 0) return {};
  const int unary = graph_.variables[join.from].unary;
  const std::vector<Cost>& copy = costs_.unaries[unary];
  const MatrixView inner{&costs_.matrix(join.matrix)};
  std::vector<Cost> rest(copy.size());
  for (size_t c = 0; c < rest.size(); ++c) rest[c] = inner.at(c, to);
  const Run run(copy, inner, join.between, rest, [&]() -> Powers& {
    return powers_.FindPowers(unary, copy, join.matrix, inner);
  });
  std::vector<Cost> whole = run.value();
  for (size_t c = 0; c < whole.size(); ++c) whole[c] += inner.at(from, c);
  const int first = static_cast<int>(
      std::min_element(whole.begin(), whole.end()) - whole.begin());
  std::vector<int> copies = {first};
  run.Choose(first, copies);
  return copies;
}

}  // namespace meshwright::search
