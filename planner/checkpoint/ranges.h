// Ranges: what the items of any range come to together, asked at once.
//
// Concept: for every power of two, the items are cut in blocks of twice as
// many. Each item has the sum from it to the middle of its block. A range from
// i to j meets the middle of the smallest block that has both. Two sums say
// all, even where no item may count twice.
//
//   | . . i . : . . . . |      sum(i .. middle) with sum(middle .. j)
//   | . . . . : . . j . |
//
// A *sum* is any associative `left.With(right)`, in the order of the items.
// Cost: n log n to make, constant to ask.
#ifndef MESHWRIGHT_PLANNER_CHECKPOINT_RANGES_H_
#define MESHWRIGHT_PLANNER_CHECKPOINT_RANGES_H_

#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

namespace meshwright::checkpoint {

template <typename Sum>
class Ranges {
 public:
  explicit Ranges(std::vector<Sum> items) : levels_(1, std::move(items)) {
    const size_t count = levels_[0].size();
    for (size_t half = 2; half < count; half *= 2) {
      std::vector<Sum> level = levels_[0];
      for (size_t middle = half; middle < count; middle += 2 * half) {
        for (size_t i = middle - 1; i > middle - half; --i) {
          level[i - 1] = levels_[0][i - 1].With(level[i]);
        }
        for (size_t i = middle + 1; i < count && i < middle + half; ++i) {
          level[i] = level[i - 1].With(levels_[0][i]);
        }
      }
      levels_.push_back(std::move(level));
    }
  }

  // The items from `i` to `j`, both included; i <= j.
  Sum Combine(int i, int j) const {
    if (i == j) return levels_[0][i];
    const auto differing = static_cast<unsigned>(i ^ j);
    const std::vector<Sum>& level = levels_[std::bit_width(differing) - 1];
    return level[i].With(level[j]);
  }

 private:
  std::vector<std::vector<Sum>> levels_;
};

}  // namespace meshwright::checkpoint

#endif  // MESHWRIGHT_PLANNER_CHECKPOINT_RANGES_H_
