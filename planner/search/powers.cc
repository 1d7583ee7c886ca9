#include "planner/search/powers.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "planner/search/min_plus.h"

namespace meshwright::search {
namespace {

constexpr int kUnknown = -1;

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
  levels_.push_back({std::move(step.entries), {}, {}});
  levels_[0].ranks.resize(size_);
}

void Powers::Grow(int level) {
  while (static_cast<int>(levels_.size()) <= level) {
    const std::vector<Cost>& half = levels_.back().cost;
    Level made{Product(size_, half, half), {}, {}};
    made.middle.assign(made.cost.size(), kUnknown);
    made.ranks.resize(size_);
    levels_.push_back(std::move(made));
  }
}

Matrix Powers::Walks(int64_t steps) {
  Matrix walks{size_, size_, {}};
  for (int level = 0; (steps >> level) > 0; ++level) {
    if (((steps >> level) & 1) == 0) continue;
    Grow(level);
    const std::vector<Cost>& block = levels_[level].cost;
    walks.entries =
        walks.entries.empty() ? block : Product(size_, block, walks.entries);
  }
  return walks;
}

int Powers::Middle(int level, int from, int to) {
  int& known = levels_[level].middle[Index(from, to)];
  if (known != kUnknown) return known;
  const std::vector<Cost>& half = levels_[level - 1].cost;
  const Cost cost = levels_[level].cost[Index(from, to)];
  const std::vector<int>* ranks = nullptr;
  int best = kUnknown;
  for (int m = 0; m < size_; ++m) {
    if (half[Index(from, m)] + half[Index(m, to)] != cost) continue;
    if (best == kUnknown) {
      best = m;
      continue;
    }
    if (ranks == nullptr) ranks = &Ranks(level - 1, from);
    if ((*ranks)[m] < (*ranks)[best]) best = m;
  }
  return known = best;
}

const std::vector<int>& Powers::Ranks(int level, int from) {
  std::vector<int>& ranks = levels_[level].ranks[from];
  if (!ranks.empty()) return ranks;
  std::vector<std::tuple<int, int, int>> keyed(size_);
  for (int d = 0; d < size_; ++d) {
    if (level == 0) {
      keyed[d] = {d, 0, d};
    } else if (cost(level, from, d) >= kNever) {
      keyed[d] = {size_, 0, d};
    } else {
      const int m = Middle(level, from, d);
      keyed[d] = {Ranks(level - 1, from)[m], Ranks(level - 1, m)[d], d};
    }
  }
  std::sort(keyed.begin(), keyed.end());
  ranks.resize(size_);
  for (int i = 0; i < size_; ++i) ranks[std::get<2>(keyed[i])] = i;
  return ranks;
}

std::vector<Cost> Powers::Apply(int level,
                                const std::vector<Cost>& next) const {
  std::vector<Cost> out(size_);
  MinOverColumns({levels_[level].cost.data(), size_, size_, size_}, next.data(),
                 out.data());
  return out;
}

int Powers::Choose(int level, int from, const std::vector<Cost>& next) {
  const Cost* const row = &levels_[level].cost[Index(from, 0)];
  int best = 0;
  for (int d = 1; d < size_; ++d) {
    const Cost sum = row[d] + next[d];
    const Cost least = row[best] + next[best];
    if (sum > least) continue;
    if (sum == least) {
      const std::vector<int>& ranks = Ranks(level, from);
      if (ranks[d] > ranks[best]) continue;
    }
    best = d;
  }
  return best;
}

void Powers::Expand(int level, int from, int to, std::vector<int>& places) {
  if (level == 0) {
    places.push_back(to);
    return;
  }
  const int middle = Middle(level, from, to);
  Expand(level - 1, from, middle, places);
  Expand(level - 1, middle, to, places);
}

}  // namespace meshwright::search
