#include "coordinator/space/grouped_sums.h"

#include "coordinator/ir/conv_dims.h"

namespace meshwright::space {
namespace {

// The demand of an axis on an operand, kWhole where there is none.
int& Demand(AxisAnnotation& axis, int value, int operand) {
  return axis.demands.try_emplace({value, operand}, kWhole).first->second;
}

void Spread(const ir::Module& module, ir::ValueId convolution, int value,
            const Mesh& mesh, SegmentAnnotation& annotation) {
  const ir::DotDims dims = ir::ContractionDimsOf(module, convolution);
  int summed = kWhole;
  int64_t parts = 1;
  std::vector<size_t> axes;  // that split the sum, or nothing
  for (size_t axis = 0; axis < mesh.size(); ++axis) {
    if (mesh[axis] <= 1) continue;
    const int lhs = Demand(annotation.axes[axis], value, 0);
    const int rhs = Demand(annotation.axes[axis], value, 1);
    const bool sums =
        lhs >= 0 && dims.side[0][lhs].role == ir::DotRole::kContracting;
    if (sums) summed = lhs;
    if (!sums && (lhs >= 0 || rhs >= 0)) continue;
    axes.push_back(axis);
    parts *= mesh[axis];
  }
  if (summed == kWhole) return;
  const ir::Instruction& it = module.at(convolution);
  const std::vector<int64_t>& in = module.at(it.operands[0]).shape.dims;
  const bool divides = in[summed] % parts == 0;
  for (size_t axis : axes) {
    Demand(annotation.axes[axis], value, 0) = divides ? summed : kWhole;
    Demand(annotation.axes[axis], value, 1) =
        divides ? dims.side[0][summed].partner : kWhole;
  }
}

}  // namespace

void SpreadGroupedSums(const segmenter::Analysis& analysis,
                       const segmenter::SegmentGraph& graph, const Mesh& mesh,
                       SegmentAnnotation& annotation) {
  const int count = static_cast<int>(graph.values.size());
  for (int value = graph.input_count; value < count; ++value) {
    const ir::ValueId origin = graph.values[value].origin;
    const ir::Instruction& it = analysis.module.at(origin);
    if (it.opcode == ir::Opcode::kConvolution &&
        it.attributes().batch_group_count() > 1) {
      Spread(analysis.module, origin, value, mesh, annotation);
    }
  }
}

}  // namespace meshwright::space
