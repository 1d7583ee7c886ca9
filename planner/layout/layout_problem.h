// LayoutProblem: one tensor, the mesh it lives on, and the two shardings.
//
// Concept: shardings are those of base/sharding.h, written [[1,0],[]] in files.
// Units: bytes are those of full tiles, as the link model counts them.
// Source: papers/map_colossal_auto.txt 4.3; costs are those of base/link.h.
#ifndef MESHWRIGHT_PLANNER_LAYOUT_LAYOUT_PROBLEM_H_
#define MESHWRIGHT_PLANNER_LAYOUT_LAYOUT_PROBLEM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/sharding.h"
#include "planner/layout/link_costs.h"
#include "planner/problem/duration.h"

namespace meshwright::layout {

using problem::Picoseconds;

using Spec = base::ShardingSpec;

inline constexpr int kMaxAxes = 8;
inline constexpr int kMaxDims = 24;

struct LayoutProblem {
  std::vector<int64_t> shape;
  int64_t elem_bytes = 0;
  base::Mesh mesh;
  std::shared_ptr<const LinkCosts> links;
  Spec source;
  Spec target;
};

// Which fields say what:
//   all-gather, slice   axis joins or leaves the end of dimension dim
//   all-to-all          axis leaves the end of dim and joins that of to_dim
//   collective-permute  axes: those along which tiles move; dims: those whose
//                       axes change. axis and dim are the first of each.
struct Step {
  Op op = Op::kSlice;
  int axis = 0;
  int dim = 0;
  std::optional<int> to_dim;
  std::vector<int> axes;
  std::vector<int> dims;
  int64_t bytes = 0;  // held per device before the step
  Picoseconds time{0};
};

struct Path {
  std::vector<Step> steps;
  std::vector<Spec> specs;  // steps.size() + 1: the source, ..., the target
  Picoseconds time{0};
};

struct Conversion {
  std::optional<Path> path;  // empty: no legal steps lead to the target
  // No path takes less. The path's own time, unless the search was cut short.
  Picoseconds lower_bound{0};
  int64_t specs_seen = 0;
};

}  // namespace meshwright::layout

#endif  // MESHWRIGHT_PLANNER_LAYOUT_LAYOUT_PROBLEM_H_
