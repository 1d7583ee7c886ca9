// Bound: what a conversion still costs at least; the A* of cheapest_path.h.
//
// Concept: a spec is reduced to a sketch. Of every axis it only says whether it
// holds copies, splits the tensor in its role of the target, or in another one.
// A sketch of p parts leaves at least the tensor's bytes / p on a device. Every
// step changes the sketch as follows, and costs at least this much:
//   all-gather     one axis comes to hold copies; with the least bytes
//   slice          one axis comes to split; nothing
//   all-to-all     one axis comes into or out of its role; with the least bytes
//   permute        any axes change, not the number of parts; as much as the
//                  slowest of them alone
// The bound is the cheapest way from sketch to sketch. So it is admissible, and
// consistent in integers, for any link costs that keep their promises.
// Stopped while it is made, it is 0 everywhere.
// Threads: const after construction.
#ifndef MESHWRIGHT_PLANNER_LAYOUT_BOUND_H_
#define MESHWRIGHT_PLANNER_LAYOUT_BOUND_H_

#include <cstdint>
#include <vector>

#include "base/deadline.h"
#include "planner/layout/tiling.h"

namespace meshwright::layout {

class Bound {
 public:
  Bound(const LayoutProblem& problem, const Tiling& tiling,
        const PackedSpec& target, const base::Deadline& deadline);

  int64_t From(const PackedSpec& spec) const;  // picoseconds

 private:
  const Tiling& tiling_;
  Roles target_;
  std::vector<int64_t> left_;  // by sketch
};

}  // namespace meshwright::layout

#endif  // MESHWRIGHT_PLANNER_LAYOUT_BOUND_H_
