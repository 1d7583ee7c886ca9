// Powers: (min,+) powers of one matrix, with the smallest of the best walks.
//
// Concept: level j holds, for every pair (c, d), the least cost of a walk of
// 2^j steps from c to d, and of all walks of that cost the lexicographically
// smallest. A walk doubles as left half (c, m) + right half (m, d). Left halves
// of distinct m differ in their last place, so the smallest walk is the one of
// the smallest left half; `rank` orders the walks that leave one c, and is
// itself found from the ranks of the halves, as suffix arrays are doubled.
// Cost: k^3 per level, so a run of n copies costs k^3 log n.
// Source: design section 7 (runs of equal segments by (min,+) powers).
#ifndef MESHWRIGHT_PLANNER_SEARCH_POWERS_H_
#define MESHWRIGHT_PLANNER_SEARCH_POWERS_H_

#include <cstdint>
#include <vector>

#include "planner/search/costs.h"

namespace meshwright::search {

class Powers {
 public:
  // `step`: the cost of going from c to d, source included.
  explicit Powers(Matrix step);

  // Makes levels 0..level present.
  void Grow(int level);

  Cost cost(int level, int from, int to) const {
    return levels_[level].cost[Index(from, to)];
  }

  // out[c] = min over d of cost(level, c, d) + next[d].
  std::vector<Cost> Apply(int level, const std::vector<Cost>& next) const;

  // The end d of the smallest best walk from `from`, as in Apply.
  int Choose(int level, int from, const std::vector<Cost>& next) const;

  // Appends the 2^level places after `from`, the last of them `to`.
  void Expand(int level, int from, int to, std::vector<int>& places) const;

 private:
  struct Level {
    std::vector<Cost> cost;
    std::vector<int> middle;   // of the smallest best walk; unused at level 0
    std::vector<int> rank;     // of (c, d) among the walks that leave c
    std::vector<int> ordered;  // row c: the d by rising rank
  };

  size_t Index(int from, int to) const {
    return static_cast<size_t>(from) * size_ + to;
  }
  Level Double(const Level& half) const;
  void Rank(const Level& half, int from, Level& level) const;

  int size_;
  std::vector<Level> levels_;
};

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_POWERS_H_
