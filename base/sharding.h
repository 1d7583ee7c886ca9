// ShardingSpec: how a tensor lies on a device mesh.
//
// Concept: per dimension of the tensor, the mesh axes that split it, major to
// minor. An axis splits one dimension at most; one that splits none holds
// copies. As text, one letter per dimension, R (replicated) or S with its axes:
// RS01R, S1RR. The form by mesh axis (AxisDims) names for every axis the
// dimension it splits. It says the same as long as the axes of each dimension
// stand in the order of the mesh.
//
//   mesh [2,4], spec S0R:  rows over axis 0, columns whole on each device
//   mesh [2,4], spec S10R: part 2 c1 + c0 of 8 on device (c0, c1)
//
// Shapes: devices are numbered row-major over the mesh. A dimension of D
// elements in p parts has tiles of t = ceil(D / p). Part i is [i t, (i + 1) t)
// cut off at D, so the last parts may be short or empty. Threads: pure
// functions.
// Errors: kInvalidArgument for a text that is no spec.
// Source: papers/cross_mesh_resharding.txt 2.2.
#ifndef MESHWRIGHT_BASE_SHARDING_H_
#define MESHWRIGHT_BASE_SHARDING_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace meshwright::base {

using Mesh = std::vector<int64_t>;  // devices per axis, the outermost first
using ShardingSpec = std::vector<std::vector<int>>;

// By mesh axis the dimension that it splits, or kCopies. A number beside those
// of dimensions and no std::optional: annotations and the search for layouts
// compare, copy and sort them in their inner loops.
using AxisDims = std::vector<int>;
inline constexpr int kCopies = -1;

// One character per axis.
inline constexpr int kMaxSpecAxes = 10;

inline int64_t TileSize(int64_t size, int64_t parts) {
  return size / parts + (size % parts != 0 ? 1 : 0);
}

ShardingSpec ToSpec(const AxisDims& dims, int rank);

// `field` names the text in errors.
absl::StatusOr<ShardingSpec> ParseSpec(std::string_view text,
                                       const std::string& field);
std::string FormatSpec(const ShardingSpec& spec);

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_SHARDING_H_
