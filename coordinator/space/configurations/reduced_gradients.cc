#include "coordinator/space/configurations/reduced_gradients.h"

#include <algorithm>
#include <vector>

#include "coordinator/segmenter/segment_view.h"

namespace meshwright::space {
namespace {

class ReducedGradients : segmenter::SegmentView {
 public:
  ReducedGradients(const segmenter::Analysis& analysis,
                   const segmenter::SegmentGraph& graph,
                   const SegmentAnnotation& annotation, const Mesh& mesh)
      : SegmentView(analysis, graph), annotation_(annotation), mesh_(mesh) {}

  int64_t Count() const {
    if (analysis_.passes.inference) return 0;
    std::vector<std::vector<char>> reduced;  // by mesh axis, then value
    for (const AxisAnnotation& axis : annotation_.axes) {
      reduced.push_back(FindReduced(axis));
    }
    int64_t bytes = 0;
    for (int i = 0; i < graph_.input_count; ++i) {
      if (!IsWeight(i)) continue;
      const ir::Shape& shape = At(i).shape;
      Sharding sharding = annotation_.GetSharding(i, shape, mesh_);
      bool is_reduced = false;
      for (size_t axis = 0; axis < reduced.size(); ++axis) {
        if (!reduced[axis][i]) continue;
        is_reduced = true;
        sharding[axis] = kWhole;
      }
      if (is_reduced) bytes += CountBytesPerDevice(shape, sharding, mesh_);
    }
    return bytes;
  }

 private:
  // A parameter, or what an earlier segment makes of parameters alone.
  bool IsWeight(int input) const {
    const ir::Shape& shape = At(input).shape;
    if (shape.is_tuple() || shape.is_scalar() ||
        !ir::IsFloating(shape.element_type)) {
      return false;
    }
    if (!IsArgument(input)) {
      return IsForward(input) && !IsRecomputable(input) &&
             !IsBatchDerived(input);
    }
    return analysis_.passes.roles[At(input).attributes().parameter_number()] ==
           segmenter::ArgumentRole::kParameter;
  }

  bool IsBatchDerived(int value) const {
    return analysis_.passes.batch_derived[Origin(value)] != 0;
  }

  // By value: whether a split forward operation reads it whole, or a form of it
  // that no batch is in.
  std::vector<char> FindReduced(const AxisAnnotation& axis) const {
    std::vector<char> reduced(count_, 0);
    for (int i = count_ - 1; i >= 0; --i) {
      reduced[i] = std::any_of(
          Uses(i).begin(), Uses(i).end(), [&](const segmenter::Use& use) {
            if (!IsForward(use.user)) return false;
            return (Read(axis, use.user, use.operand) < 0 &&
                    IsSplit(axis, use.user)) ||
                   (reduced[use.user] && !IsBatchDerived(use.user));
          });
    }
    return reduced;
  }

  // The split in which an operand is read.
  int Read(const AxisAnnotation& axis, int user, int operand) const {
    const auto demand = axis.demands.find({user, operand});
    return demand == axis.demands.end() ? axis.split[Operands(user)[operand]]
                                        : demand->second;
  }

  // Whether devices compute different parts of the operation.
  bool IsSplit(const AxisAnnotation& axis, int user) const {
    if (axis.split[user] >= 0) return true;
    for (size_t k = 0; k < Operands(user).size(); ++k) {
      if (Read(axis, user, static_cast<int>(k)) >= 0) return true;
    }
    return false;
  }

  const SegmentAnnotation& annotation_;
  const Mesh& mesh_;
};

}  // namespace

int64_t CountReducedBytes(const segmenter::Analysis& analysis,
                          const segmenter::SegmentGraph& graph,
                          const SegmentAnnotation& annotation,
                          const Mesh& mesh) {
  return ReducedGradients(analysis, graph, annotation, mesh).Count();
}

}  // namespace meshwright::space
