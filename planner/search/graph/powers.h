// Powers: (min,+) powers of one matrix, with a best walk of each.
//
// Concept: level j holds, for every pair (c, d), the least cost of a walk of
// 2^j steps from c to d. A walk is a left half (c, m) and a right half (m, d);
// of several m the smallest is taken.
// Cost: k^3 per level, so a run of n copies costs k^3 log n.
// Threads: const methods from any thread.
// Source: the standard (min,+) matrix power by squaring.
#ifndef MESHWRIGHT_PLANNER_SEARCH_GRAPH_POWERS_H_
#define MESHWRIGHT_PLANNER_SEARCH_GRAPH_POWERS_H_

#include <cstdint>
#include <vector>

#include "planner/search/graph/costs.h"

namespace meshwright::search {

class Powers {
 public:
  // `step`: the cost of going from c to d, source included.
  explicit Powers(Matrix step);

  // Makes levels 0..level present.
  void Grow(int level);

  Cost cost(int level, int from, int to) const {
    return levels_[level][Index(from, to)];
  }

  // out[c] = min over d of cost(level, c, d) + next[d].
  std::vector<Cost> Apply(int level, const std::vector<Cost>& next) const;

  // The least costs of `steps` >= 1 steps, for every pair.
  Matrix Walks(int64_t steps);

  // The end d of a best walk from `from`, as in Apply.
  int Choose(int level, int from, const std::vector<Cost>& next) const;

  // Appends the 2^level values after `from`, the last of them `to`.
  void Expand(int level, int from, int to, std::vector<int>& values) const;

 private:
  size_t Index(int from, int to) const {
    return static_cast<size_t>(from) * size_ + to;
  }
  int Middle(int level, int from, int to) const;

  int size_;
  std::vector<std::vector<Cost>> levels_;
};

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_GRAPH_POWERS_H_
