// IndexRange: the indices of a vector (strong_id.h), upwards or downwards.
//
//   for (const ValueId id : IndexRange<ValueId>(values.size())) ...
//   for (const ValueId id : IndexRange<ValueId>(values.size()).Reversed()) ...
//
// The vector may grow meanwhile: the range does not.
#ifndef MESHWRIGHT_BASE_INDEX_RANGE_H_
#define MESHWRIGHT_BASE_INDEX_RANGE_H_

#include <cstddef>

namespace meshwright::base {

template <typename Index>
class IndexRange {
 public:
  class Iterator {
   public:
    Iterator(size_t at, ptrdiff_t step) : at_(at), step_(step) {}
    Index operator*() const { return Index(at_); }
    Iterator& operator++() {
      at_ += step_;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    size_t at_;
    ptrdiff_t step_;
  };

  // 0, 1, .. count - 1.
  explicit IndexRange(size_t count) : first_(0), end_(count), step_(1) {}
  // From the last to the first of a range that counts up.
  IndexRange Reversed() const { return IndexRange(end_ - 1, first_ - 1, -1); }

  Iterator begin() const { return {first_, step_}; }
  Iterator end() const { return {end_, step_}; }

 private:
  IndexRange(size_t first, size_t end, ptrdiff_t step)
      : first_(first), end_(end), step_(step) {}

  size_t first_;
  size_t end_;  // of a range downwards, the one below 0 wraps around
  ptrdiff_t step_;
};

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_INDEX_RANGE_H_
