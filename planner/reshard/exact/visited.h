// Visited: states of a search that need not be met again.
//
// Concept: a state is the set of jobs placed and until when each link is in
// use. One is covered by another of the same jobs whose links are all free as
// early. Per set of jobs a few states are kept, of all a bounded number; what
// is forgotten costs time, never the answer.
#ifndef MESHWRIGHT_PLANNER_RESHARD_EXACT_VISITED_H_
#define MESHWRIGHT_PLANNER_RESHARD_EXACT_VISITED_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "planner/reshard/problem/durations.h"

namespace meshwright::reshard {

class Visited {
 public:
  // `width`: figures of a state.
  explicit Visited(size_t width) : width_(width) {}

  // Was a state that covers this one visited? If not, it now was.
  bool Covers(uint64_t placed, const std::vector<Ticks>& state);

 private:
  static constexpr size_t kMaxOfOne = 16;
  static constexpr size_t kMaxFigures = size_t{1} << 23;

  bool AllAsEarly(size_t at, const std::vector<Ticks>& state) const;

  const size_t width_;
  std::vector<Ticks> figures_;
  absl::flat_hash_map<uint64_t, std::vector<uint32_t>> at_;  // states of a set
};

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_EXACT_VISITED_H_
