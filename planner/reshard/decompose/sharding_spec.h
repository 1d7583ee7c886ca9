// ShardingSpec: how a tensor lies on a mesh, as the paper writes it.
//
// Concept: one letter per dimension of the tensor, R (replicated) or S with the
// mesh axes that split it, major to minor: RS01R, S1RR. An axis splits one
// dimension at most; one that splits none holds copies. A dimension of D
// elements in p parts has tiles of t = ceil(D / p); part i is [i t, (i + 1) t)
// cut off at D, so the last ones may be short or empty.
// Source: papers/cross_mesh_resharding.txt 2.2; design section 8.
#ifndef MESHWRIGHT_PLANNER_RESHARD_DECOMPOSE_SHARDING_SPEC_H_
#define MESHWRIGHT_PLANNER_RESHARD_DECOMPOSE_SHARDING_SPEC_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace meshwright::reshard {

using ShardingSpec = std::vector<std::vector<int>>;

// One character per axis.
inline constexpr int kMaxAxes = 10;

// `field` names the text in errors (kInvalidArgument).
absl::StatusOr<ShardingSpec> ParseSpec(std::string_view text,
                                       const std::string& field);
std::string SpecText(const ShardingSpec& spec);

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_DECOMPOSE_SHARDING_SPEC_H_
