#include "coordinator/space/annotation/segment_annotation.h"

#include "coordinator/ir/shape.h"

namespace meshwright::space {
namespace {

// `find_split` gives the split on one axis.
template <typename FindSplit>
Sharding CollectSplits(const std::vector<AxisAnnotation>& axes,
                       const ir::Shape& shape, const Mesh& mesh,
                       FindSplit find_split) {
  const std::vector<int64_t>* dims = ir::CollectUniformDims(shape);
  if (dims == nullptr) return Sharding(mesh.size(), kWhole);
  Sharding sharding;
  for (const AxisAnnotation& axis : axes) sharding.push_back(find_split(axis));
  return Legalize(sharding, *dims, mesh);
}

}  // namespace

Sharding SegmentAnnotation::GetSharding(int value, const ir::Shape& shape,
                                        const Mesh& mesh) const {
  return CollectSplits(axes, shape, mesh, [&](const AxisAnnotation& axis) {
    return axis.split[value];
  });
}

Sharding SegmentAnnotation::GetDemanded(int value, int operand,
                                        int operand_value,
                                        const ir::Shape& shape,
                                        const Mesh& mesh) const {
  return CollectSplits(axes, shape, mesh, [&](const AxisAnnotation& axis) {
    const auto found = axis.demands.find({value, operand});
    return found == axis.demands.end() ? axis.split[operand_value]
                                       : found->second;
  });
}

Sharding SegmentAnnotation::GetLeaving(int value, const ir::Shape& shape,
                                       const Mesh& mesh) const {
  return CollectSplits(axes, shape, mesh, [&](const AxisAnnotation& axis) {
    const auto found = axis.results.find(value);
    return found == axis.results.end() ? axis.split[value] : found->second;
  });
}

}  // namespace meshwright::space
