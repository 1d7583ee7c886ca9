// Conflicts: which jobs can never overlap, whoever sends them.
//
// Shapes: a bit per pair, rows of 64-bit words.
// Threads: const after construction.
#ifndef MESHWRIGHT_PLANNER_RESHARD_PROBLEM_CONFLICTS_H_
#define MESHWRIGHT_PLANNER_RESHARD_PROBLEM_CONFLICTS_H_

#include <cstdint>
#include <vector>

#include "planner/reshard/problem/instance.h"

namespace meshwright::reshard {

class Conflicts {
 public:
  explicit Conflicts(const Instance& instance);

  int words() const { return words_; }
  const uint64_t* Row(int job) const {
    return &bits_[static_cast<size_t>(job) * words_];
  }
  bool Test(int a, int b) const { return Row(a)[b >> 6] >> (b & 63) & 1; }

 private:
  int words_;
  std::vector<uint64_t> bits_;
};

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_PROBLEM_CONFLICTS_H_
