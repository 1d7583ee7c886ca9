#include "planner/search/graph/powers.h"

#include <algorithm>
#include <utility>

#include "planner/search/graph/min_plus.h"

namespace meshwright::search {
namespace {

std::vector<Cost> Product(int size, const std::vector<Cost>& left,
                          const std::vector<Cost>& right) {
  std::vector<Cost> product(left.size(), kNever);
  const Rows rows{right.data(), size, size, size};
  for (size_t row = 0; row < left.size(); row += size) {
    MinOverRows(rows, &left[row], &product[row]);
  }
  return product;
}

}  // namespace

Powers::Powers(Matrix step) : size_(step.rows) {
  levels_.push_back(std::move(step.entries));
}

void Powers::Grow(int level) {
  while (static_cast<int>(levels_.size()) <= level) {
    levels_.push_back(Product(size_, levels_.back(), levels_.back()));
  }
}

Matrix Powers::Walks(int64_t steps) {
  Matrix walks{size_, size_, {}};
  for (int level = 0; (steps >> level) > 0; ++level) {
    if (((steps >> level) & 1) == 0) continue;
    Grow(level);
    const std::vector<Cost>& block = levels_[level];
    walks.entries =
        walks.entries.empty() ? block : Product(size_, block, walks.entries);
  }
  return walks;
}

int Powers::Middle(int level, int from, int to) const {
  const std::vector<Cost>& half = levels_[level - 1];
  const Cost whole = cost(level, from, to);
  int middle = 0;
  while (half[Index(from, middle)] + half[Index(middle, to)] != whole) {
    ++middle;
  }
  return middle;
}

std::vector<Cost> Powers::Apply(int level,
                                const std::vector<Cost>& next) const {
  std::vector<Cost> out(size_);
  MinOverColumns({levels_[level].data(), size_, size_, size_}, next.data(),
                 out.data());
  return out;
}

int Powers::Choose(int level, int from, const std::vector<Cost>& next) const {
  const Cost* const row = &levels_[level][Index(from, 0)];
  int best = 0;
  for (int d = 1; d < size_; ++d) {
    if (row[d] + next[d] < row[best] + next[best]) best = d;
  }
  return best;
}

void Powers::Expand(int level, int from, int to,
                    std::vector<int>& values) const {
  if (level == 0) {
    values.push_back(to);
    return;
  }
  const int middle = Middle(level, from, to);
  Expand(level - 1, from, middle, values);
  Expand(level - 1, middle, to, values);
}

}  // namespace meshwright::search
