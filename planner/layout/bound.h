// Bound: what a conversion still costs at least; the A* of cheapest_path.h.
//
// Concept: an axis that splits the tensor now, in another role than in the
// target, has to be acted on: by an all-gather or an all-to-all of its own, or
// by a permute, which may serve several axes at once. Each costs at least what
// it would with the fewest bytes any spec leaves on a device. The bound is the
// cheapest way of serving all such axes.
// It is admissible and consistent, in integers: a step serves only the axes
// it acts on, a set of axes never needs less than a part of it, and a permute
// of two sets is counted no more than two permutes.
// Threads: const after construction.
#ifndef MESHWRIGHT_PLANNER_LAYOUT_BOUND_H_
#define MESHWRIGHT_PLANNER_LAYOUT_BOUND_H_

#include <vector>

#include "planner/layout/tiling.h"

namespace meshwright::layout {

class Bound {
 public:
  Bound(const LayoutProblem& problem, const Tiling& tiling,
        const PackedSpec& target);

  int64_t From(const PackedSpec& spec) const;  // picoseconds

 private:
  const Tiling& tiling_;
  Roles target_;
  std::vector<int64_t> least_;  // by set of axes that have to be acted on
};

}  // namespace meshwright::layout

#endif  // MESHWRIGHT_PLANNER_LAYOUT_BOUND_H_
