#include "planner/search/powers.h"

#include <algorithm>
#include <utility>

namespace meshwright::search {

Powers::Powers(Matrix step) : size_(step.rows) {
  Level first;
  first.cost = std::move(step.entries);
  first.rank.resize(first.cost.size());
  for (size_t i = 0; i < first.rank.size(); ++i) first.rank[i] = i % size_;
  first.ordered = first.rank;
  first.middle.assign(first.cost.size(), 0);
  levels_.push_back(std::move(first));
}

void Powers::Grow(int level) {
  while (static_cast<int>(levels_.size()) <= level) {
    levels_.push_back(Double(levels_.back()));
  }
}

Powers::Level Powers::Double(const Level& half) const {
  Level level;
  level.cost.assign(half.cost.size(), kNever);
  level.middle.assign(half.cost.size(), 0);
  level.rank.resize(half.cost.size());
  level.ordered.resize(half.cost.size());
  for (int c = 0; c < size_; ++c) {
    Cost* const out = &level.cost[Index(c, 0)];
    int* const middle = &level.middle[Index(c, 0)];
    // Left halves by rising rank: the first to reach a cost is the smallest.
    for (int i = 0; i < size_; ++i) {
      const int m = half.ordered[Index(c, i)];
      const Cost left = half.cost[Index(c, m)];
      if (left >= kNever) continue;
      const Cost* const right = &half.cost[Index(m, 0)];
      for (int d = 0; d < size_; ++d) {
        const Cost sum = left + right[d];
        const bool better = sum < out[d];
        out[d] = better ? sum : out[d];
        middle[d] = better ? m : middle[d];
      }
    }
    Rank(half, c, level);
  }
  return level;
}

void Powers::Rank(const Level& half, int from, Level& level) const {
  const auto key = [&](int d) {
    const int m = level.middle[Index(from, d)];
    return std::pair(half.rank[Index(from, m)], half.rank[Index(m, d)]);
  };
  std::vector<std::pair<std::pair<int, int>, int>> keyed(size_);
  for (int d = 0; d < size_; ++d) keyed[d] = {key(d), d};
  std::sort(keyed.begin(), keyed.end());
  for (int i = 0; i < size_; ++i) {
    level.ordered[Index(from, i)] = keyed[i].second;
    level.rank[Index(from, keyed[i].second)] = i;
  }
}

std::vector<Cost> Powers::Apply(int level,
                                const std::vector<Cost>& next) const {
  std::vector<Cost> out(size_, kNever);
  const Cost* row = levels_[level].cost.data();
  for (int c = 0; c < size_; ++c, row += size_) {
    for (int d = 0; d < size_; ++d) {
      out[c] = std::min(out[c], row[d] + next[d]);
    }
  }
  return out;
}

int Powers::Choose(int level, int from, const std::vector<Cost>& next) const {
  const Level& walks = levels_[level];
  int best = walks.ordered[Index(from, 0)];
  for (int i = 1; i < size_; ++i) {
    const int d = walks.ordered[Index(from, i)];
    if (walks.cost[Index(from, d)] + next[d] <
        walks.cost[Index(from, best)] + next[best]) {
      best = d;
    }
  }
  return best;
}

void Powers::Expand(int level, int from, int to,
                    std::vector<int>& places) const {
  if (level == 0) {
    places.push_back(to);
    return;
  }
  const int middle = levels_[level].middle[Index(from, to)];
  Expand(level - 1, from, middle, places);
  Expand(level - 1, middle, to, places);
}

}  // namespace meshwright::search
