// Shardings of tensors over a device mesh.
//
// Concept: a Sharding is the form by mesh axis of base/sharding.h: the
// dimension that each axis splits, or base::kCopies. Of several axes that split
// one dimension the outer one is major. Programs hold it as OpSharding. Shapes:
// one entry per mesh axis, outermost first. Source: the OpSharding message of
// OpenXLA (tile assignment with a trailing replicated dimension).
#ifndef MESHWRIGHT_COORDINATOR_SPACE_ANNOTATION_SHARDING_H_
#define MESHWRIGHT_COORDINATOR_SPACE_ANNOTATION_SHARDING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/sharding.h"
#include "coordinator/ir/shape.h"
#include "proto/hlo/hlo.pb.h"

namespace meshwright::space {

using Mesh = base::Mesh;
using Sharding = base::AxisDims;

int64_t CountDevices(const Mesh& mesh);

// Drops splits that do not divide the dimension evenly.
Sharding Legalize(const Sharding& sharding, const std::vector<int64_t>& dims,
                  const Mesh& mesh);

// For a tensor of rank `rank`.
hlo::OpSharding ToProto(const Sharding& sharding, int rank, const Mesh& mesh);

// For any shape: tuples get the sharding on every element.
hlo::OpSharding ToProto(const Sharding& sharding, const ir::Shape& shape,
                        const Mesh& mesh);

// Bytes one device holds.
int64_t CountBytesPerDevice(const ir::Shape& shape, const Sharding& sharding,
                            const Mesh& mesh);

// "replicated", "dim 0 over axis 1"; for people and plans.
std::string Describe(const Sharding& sharding);

// "whole", "dim 0"; over several axes of more than one device "dim 0/whole".
std::string SplitText(const Sharding& sharding, const Mesh& mesh);

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_ANNOTATION_SHARDING_H_
