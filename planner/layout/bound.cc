#include "planner/layout/bound.h"

#include <algorithm>

#include "planner/layout/one_step.h"
#include "planner/problem/duration.h"

namespace meshwright::layout {
namespace {

// Tiles of D / p or more: no device ever holds less than its share.
int64_t FewestBytes(const Tiling& tiling) {
  int64_t bytes = tiling.elem_bytes();
  for (int d = 0; d < tiling.dims(); ++d) bytes *= tiling.DimSize(d);
  const int64_t devices = tiling.Parts((AxisSet{1} << tiling.axes()) - 1);
  return std::max(tiling.elem_bytes(), (bytes - 1) / devices + 1);
}

}  // namespace

Bound::Bound(const LayoutProblem& problem, const Tiling& tiling,
             const PackedSpec& target)
    : tiling_(tiling), target_(tiling.RolesOf(target)) {
  const int64_t bytes = FewestBytes(tiling);
  const size_t sets = size_t{1} << tiling.axes();
  // By set: each axis on its own, and all by one permute.
  std::vector<int64_t> apart(sets, 0);
  std::vector<int64_t> permute(sets, 0);
  least_.assign(sets, 0);
  for (AxisSet set = 1; set < sets; ++set) {
    const AxisSet rest = set & (set - 1);
    const AxisSet only = set ^ rest;
    const auto time = [&](Op op) {
      return StepTime(problem, tiling, op, only, bytes);
    };
    apart[set] = problem::SaturatingAdd(
        apart[rest], std::min(time(Op::kAllGather), time(Op::kAllToAll)));
    // Not that of the whole set, which rounding could put above the sum of two.
    permute[set] = std::max(permute[rest], time(Op::kCollectivePermute));
    least_[set] = apart[set];
    for (AxisSet part = set; part != 0; part = (part - 1) & set) {
      least_[set] =
          std::min(least_[set],
                   problem::SaturatingAdd(permute[part], apart[set & ~part]));
    }
  }
}

int64_t Bound::From(const PackedSpec& spec) const {
  const Roles roles = tiling_.RolesOf(spec);
  AxisSet wrong = 0;
  for (int axis = 0; axis < tiling_.axes(); ++axis) {
    if (roles[axis].dim != Role::kCopies && roles[axis] != target_[axis]) {
      wrong |= AxisSet{1} << axis;
    }
  }
  return least_[wrong];
}

}  // namespace meshwright::layout
