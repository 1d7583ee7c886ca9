#include "coordinator/space/grouped_sums.h"

#include "coordinator/ir/conv_dims.h"

namespace meshwright::space {
namespace {

// What such a convolution computes with, on one axis.
class Operands {
 public:
  Operands(const segmenter::SegmentGraph& graph, int value,
           AxisAnnotation& axis)
      : operands_(graph.values[value].operands), value_(value), axis_(axis) {}

  // As demanded; else as the operand is.
  int Split(int operand) const {
    const auto demand = axis_.demands.find({value_, operand});
    return demand == axis_.demands.end() ? axis_.split[operands_[operand]]
                                         : demand->second;
  }
  void Ask(int operand, int dim) {
    if (Split(operand) != dim) axis_.demands[{value_, operand}] = dim;
  }

 private:
  const std::vector<int>& operands_;
  const int value_;
  AxisAnnotation& axis_;
};

void Spread(const ir::Module& module, const segmenter::SegmentGraph& graph,
            int value, const Mesh& mesh, SegmentAnnotation& annotation) {
  const ir::ValueId convolution = graph.values[value].origin;
  const ir::DotDims dims = ir::ContractionDimsOf(module, convolution);
  int summed = kWhole;
  int64_t parts = 1;
  std::vector<Operands> spread;  // of axes that split the sum, or nothing
  for (size_t axis = 0; axis < mesh.size(); ++axis) {
    if (mesh[axis] <= 1) continue;
    Operands operands(graph, value, annotation.axes[axis]);
    const int lhs = operands.Split(0);
    const int rhs = operands.Split(1);
    const auto sums = [&](int side, int dim) {
      return dim >= 0 && dims.side[side][dim].role == ir::DotRole::kContracting;
    };
    if (sums(0, lhs)) {
      summed = lhs;
    } else if (sums(1, rhs)) {
      summed = dims.side[1][rhs].partner;
    } else if (lhs >= 0 || rhs >= 0) {
      continue;
    }
    spread.push_back(operands);
    parts *= mesh[axis];
  }
  if (summed == kWhole) return;
  const ir::Instruction& it = module.at(convolution);
  const std::vector<int64_t>& in = module.at(it.operands[0]).shape.dims;
  const bool divides = in[summed] % parts == 0;
  for (Operands& operands : spread) {
    operands.Ask(0, divides ? summed : kWhole);
    operands.Ask(1, divides ? dims.side[0][summed].partner : kWhole);
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
      Spread(analysis.module, graph, value, mesh, annotation);
    }
  }
}

}  // namespace meshwright::space
