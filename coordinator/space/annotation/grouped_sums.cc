#include "coordinator/space/annotation/grouped_sums.h"

#include <algorithm>
#include <set>

#include "coordinator/ir/links/contraction_dims.h"

namespace meshwright::space {
namespace {

// The operands of such a convolution, on one axis.
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

// No axis splits one operand otherwise than the other, and none the places that
// are summed over where another holds copies.
void AskAlike(const ir::DotDims& dims, const segmenter::SegmentGraph& graph,
              int value, const Mesh& mesh, SegmentAnnotation& annotation) {
  bool copies = false;
  std::vector<Operands> placed;
  for (size_t axis = 0; axis < mesh.size(); ++axis) {
    if (mesh[axis] <= 1) continue;
    Operands operands(graph, value, annotation.axes[axis]);
    const auto places = [&](int side) {
      const int dim = operands.Split(side);
      return dim >= 0 && dims.side[side][dim].role == ir::DotRole::kSpatial;
    };
    const int lhs = operands.Split(0);
    if (places(0) && places(1)) {
      placed.push_back(operands);
      continue;
    }
    if (lhs >= 0 &&
        dims.side[0][lhs].partner.value_or(kWhole) == operands.Split(1)) {
      continue;
    }
    operands.Ask(0, kWhole);
    operands.Ask(1, kWhole);
    copies = true;
  }
  if (!copies) return;
  for (Operands& operands : placed) {
    operands.Ask(0, kWhole);
    operands.Ask(1, kWhole);
  }
}

void Spread(const ir::Module& module, const segmenter::SegmentGraph& graph,
            int value, const Mesh& mesh, SegmentAnnotation& annotation) {
  const ir::ValueId convolution = graph.values[value].origin;
  const ir::DotDims dims = ir::GetContractionDims(module, convolution);
  AskAlike(dims, graph, value, mesh, annotation);
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
      summed = dims.side[1][rhs].partner.value_or(kWhole);
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
    operands.Ask(1, divides ? *dims.side[0][summed].partner : kWhole);
  }
}

bool HasOneTap(const ir::Instruction& convolution) {
  const auto& window = convolution.attributes().window();
  return convolution.attributes().feature_group_count() > 1 &&
         std::all_of(window.dimensions().begin(), window.dimensions().end(),
                     [](const auto& it) { return it.size() == 1; });
}

// Readers of `value` that ask for nothing get it as it was.
void KeepReaders(const segmenter::SegmentGraph& graph, int value,
                 AxisAnnotation& axis) {
  for (const auto& [user, operand] : graph.values[value].uses) {
    axis.demands.try_emplace({user, operand}, axis.split[value]);
  }
}

// A boundary crosses as its first maker has it, its gradients alike.
void SplitResult(const segmenter::SegmentGraph& graph, int value, int dim,
                 AxisAnnotation& axis) {
  if (axis.split[value] == dim) return;
  std::set<int> alike = {value};
  for (const auto* pairs : {&graph.entries, &graph.exits}) {
    int activation = value;
    for (const segmenter::BoundaryPair& pair : *pairs) {
      if (pair.gradient == value) activation = pair.activation;
    }
    for (const segmenter::BoundaryPair& pair : *pairs) {
      if (pair.activation != activation) continue;
      alike.insert({pair.activation, pair.gradient});
    }
  }
  for (const int it : alike) {
    if (axis.split[it] == dim) continue;
    KeepReaders(graph, it, axis);
    axis.split[it] = dim;
  }
}

void SpreadGroups(const ir::Module& module,
                  const segmenter::SegmentGraph& graph, int value,
                  const Mesh& mesh, SegmentAnnotation& annotation) {
  const ir::DotDims dims =
      ir::GetContractionDims(module, graph.values[value].origin);
  const auto grouped = std::find_if(
      dims.side[0].begin(), dims.side[0].end(), [](const auto& it) {
        return it.role == ir::DotRole::kBatch && it.partner.has_value();
      });
  if (grouped == dims.side[0].end()) return;
  const int lhs = static_cast<int>(grouped - dims.side[0].begin());
  bool splits = false;
  bool copies = false;
  int64_t parts = 1;
  std::vector<size_t> axes;  // that split the groups, or nothing
  for (size_t axis = 0; axis < mesh.size(); ++axis) {
    if (mesh[axis] <= 1) continue;
    AxisAnnotation& it = annotation.axes[axis];
    Operands operands(graph, value, it);
    const bool asked =
        operands.Split(0) == lhs || operands.Split(1) == grouped->partner;
    const bool split = it.split[value] == grouped->output;
    if (!split && it.split[value] >= 0) continue;
    splits |= split || asked;
    copies |= !split;
    parts *= mesh[axis];
    axes.push_back(axis);
  }
  if (!splits || !copies) return;
  const bool divides = grouped->groups % parts == 0;
  for (const size_t axis : axes) {
    AxisAnnotation& it = annotation.axes[axis];
    Operands operands(graph, value, it);
    operands.Ask(0, divides ? lhs : kWhole);
    operands.Ask(1, divides ? *grouped->partner : kWhole);
    SplitResult(graph, value, divides ? *grouped->output : kWhole, it);
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
    if (it.opcode == ir::Opcode::kConvolution && HasOneTap(it)) {
      SpreadGroups(analysis.module, graph, value, mesh, annotation);
    }
  }
}

}  // namespace meshwright::space
