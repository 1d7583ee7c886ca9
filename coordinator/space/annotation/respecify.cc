#include "coordinator/space/annotation/respecify.h"

#include "coordinator/ir/shape.h"

namespace meshwright::space {

Respecifier::Respecifier(const segmenter::Analysis& analysis,
                         const segmenter::SegmentGraph& graph,
                         const SegmentAnnotation& annotation, int axis,
                         const Mesh& mesh)
    : SegmentView(analysis, graph),
      annotation_(annotation),
      axis_(axis),
      mesh_(mesh),
      before_(annotation.axes[axis]),
      now_(before_.split) {}

int Respecifier::Asked(int user, int operand) const {
  const auto found = before_.demands.find({user, operand});
  return found == before_.demands.end() ? Before(Operands(user)[operand])
                                        : found->second;
}

bool Respecifier::IsSplitElsewhere(int value, int dim) const {
  for (size_t axis = 0; axis < mesh_.size(); ++axis) {
    if (static_cast<int>(axis) != axis_ &&
        annotation_.axes[axis].split[value] == dim) {
      return true;
    }
  }
  return false;
}

bool Respecifier::Fits(int value, int dim) const {
  const std::vector<int64_t>* const dims =
      ir::CollectUniformDims(At(value).shape);
  if (dims == nullptr || dim < 0 || dim >= static_cast<int>(dims->size())) {
    return false;
  }
  if (!IsInput(value) &&
      ir::IsTransformed(analysis_.module, Origin(value), dim)) {
    return false;
  }
  int64_t parts = mesh_[axis_];
  for (size_t axis = 0; axis < mesh_.size(); ++axis) {
    if (static_cast<int>(axis) != axis_ &&
        annotation_.axes[axis].split[value] == dim) {
      parts *= mesh_[axis];
    }
  }
  return (*dims)[dim] > 0 && (*dims)[dim] % parts == 0;
}

int Respecifier::PushThrough(int user, int operand, int dim) const {
  if (dim < 0) return kWhole;
  for (const ir::DimLink& link : Links(user, operand)) {
    if (link.in == dim && Fits(user, link.out)) return link.out;
  }
  return kWhole;
}

int Respecifier::PullThrough(int user, int operand, int dim) const {
  if (dim < 0) return kWhole;
  for (const ir::DimLink& link : Links(user, operand)) {
    if (link.out == dim && Fits(Operands(user)[operand], link.in))
      return link.in;
  }
  return kWhole;
}

void Respecifier::Repair(int user, AxisAnnotation& out) const {
  // A carried value is taken over in the split that the loop carries it in.
  if (ir::IsLoopBoundary(At(user).opcode)) return;
  const std::vector<int>& operands = Operands(user);
  for (size_t k = 0; k < operands.size(); ++k) {
    const int operand = operands[k];
    if (!Changed(user) && !Changed(operand)) continue;
    const OperandPlace place = {user, static_cast<int>(k)};
    if (before_.demands.contains(place)) continue;
    int wanted = Before(operand);
    if (Changed(user)) {
      wanted = PullThrough(user, place.operand, Now(user));
    } else if (At(user).opcode == ir::Opcode::kReduce && Now(user) < 0) {
      continue;
    }
    if (wanted != Now(operand)) out.demands[place] = wanted;
  }
}

AxisAnnotation Respecifier::Finish() const {
  AxisAnnotation out = before_;
  out.split = now_;
  for (int user = graph_.input_count; user < count_; ++user) Repair(user, out);
  for (int output : graph_.outputs) {
    if (Changed(output)) out.results.emplace(output, Before(output));
  }
  for (const segmenter::BoundaryPair& pair : graph_.boundary_pairs()) {
    out.results.erase(pair.activation);
    out.results.erase(pair.gradient);
  }
  for (const auto& [argument, updated] : graph_.state) {
    out.results.erase(updated);
    if (Now(updated) != Now(argument)) out.results[updated] = Now(argument);
  }
  return out;
}

}  // namespace meshwright::space
