// Shardings of tensors over a device mesh.
//
// Concept: a Sharding names, for every mesh axis, the tensor dimension that
// axis splits, or -1 where the axis holds copies. Devices are numbered
// row-major over the mesh. One dimension may be split by several axes, the
// outer one major.
// Shapes: one entry per mesh axis, outermost first.
// Source: the OpSharding message of OpenXLA (tile assignment with a trailing
// replicated dimension).
#ifndef MESHWRIGHT_COORDINATOR_SPACE_ANNOTATION_SHARDING_H_
#define MESHWRIGHT_COORDINATOR_SPACE_ANNOTATION_SHARDING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "coordinator/ir/shape.h"
#include "proto/hlo/hlo.pb.h"

namespace meshwright::space {

using Mesh = std::vector<int64_t>;
using Sharding = std::vector<int>;

int64_t DeviceCount(const Mesh& mesh);

// Drops splits that do not divide the dimension evenly.
Sharding Legalize(const Sharding& sharding, const std::vector<int64_t>& dims,
                  const Mesh& mesh);

// For a tensor of rank `rank`.
hlo::OpSharding ToProto(const Sharding& sharding, int rank, const Mesh& mesh);

// For any shape: tuples get the sharding on every element.
hlo::OpSharding ToProto(const Sharding& sharding, const ir::Shape& shape,
                        const Mesh& mesh);

// Bytes one device holds.
int64_t BytesPerDevice(const ir::Shape& shape, const Sharding& sharding,
                       const Mesh& mesh);

// "replicated", "dim 0 over axis 1"; for people and plans.
std::string Describe(const Sharding& sharding);

// "whole", "dim 0"; over several axes of more than one device "dim 0/whole".
std::string SplitText(const Sharding& sharding, const Mesh& mesh);

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_ANNOTATION_SHARDING_H_
