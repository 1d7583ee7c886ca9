// UnionFind: sets of numbers that grow together.
//
// Threads: one; Find shortens paths.
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_BLOCKS_UNION_FIND_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_BLOCKS_UNION_FIND_H_

#include <numeric>
#include <vector>

namespace meshwright::segmenter {

class UnionFind {
 public:
  // Of 0 .. count - 1, each alone.
  explicit UnionFind(int count = 0) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  // One more element, alone; its number.
  int Add() {
    parent_.push_back(static_cast<int>(parent_.size()));
    return parent_.back();
  }
  // The number that stands for the set of `x`.
  int Find(int x) const {
    while (parent_[x] != x) x = parent_[x] = parent_[parent_[x]];
    return x;
  }
  // The set of `b` joins that of `a`.
  void Union(int a, int b) { parent_[Find(b)] = Find(a); }

 private:
  mutable std::vector<int> parent_;
};

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_BLOCKS_UNION_FIND_H_
