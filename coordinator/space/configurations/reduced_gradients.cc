#include "coordinator/space/configurations/reduced_gradients.h"

#include <map>
#include <optional>
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
    std::map<int, Sharding> reduced;  // by value
    for (size_t axis = 0; axis < annotation_.axes.size(); ++axis) {
      const std::vector<std::optional<int>> found =
          FindReduced(annotation_.axes[axis]);
      for (int i = 0; i < graph_.input_count; ++i) {
        if (!IsWeight(i) || !found[i].has_value()) continue;
        const int value = *found[i];
        const auto it = reduced.try_emplace(value, GetSharding(value)).first;
        it->second[axis] = kWhole;
      }
    }
    int64_t bytes = 0;
    for (const auto& [value, sharding] : reduced) {
      bytes += CountBytesPerDevice(At(value).shape, sharding, mesh_);
    }
    return bytes;
  }

 private:
  // A parameter, or what an earlier segment makes of parameters and of what is
  // frozen.
  bool IsWeight(int input) const {
    const ir::Shape& shape = At(input).shape;
    if (shape.is_tuple() || shape.is_scalar() ||
        !ir::IsFloating(shape.element_type)) {
      return false;
    }
    if (!IsArgument(input)) {
      return IsForward(input) && !IsRecomputable(input) &&
             (!IsBatchDerived(input) || IsWeightForm(input));
    }
    return analysis_.passes.roles[At(input).attributes().parameter_number()] ==
           segmenter::ArgumentRole::kParameter;
  }

  bool IsBatchDerived(int value) const {
    return analysis_.passes.batch_derived[Origin(value)] != 0;
  }

  bool IsWeightForm(int value) const {
    return analysis_.passes.weight_form[Origin(value)] != 0;
  }

  Sharding GetSharding(int value) const {
    return annotation_.GetSharding(value, At(value).shape, mesh_);
  }

  // By value: the one whose gradient is reduced for its sake. That is itself
  // where a split forward operation reads it whole, or a form of it that no
  // batch is in. It is a later form where a frozen argument went into that one.
  std::vector<std::optional<int>> FindReduced(
      const AxisAnnotation& axis) const {
    std::vector<std::optional<int>> reduced(count_);
    std::vector<std::optional<bool>> is_split(count_);  // of users so far
    for (int i = count_ - 1; i >= 0; --i) {
      for (const segmenter::Use& use : Uses(i)) {
        const int user = use.user;
        if (!IsForward(user)) continue;
        if (!is_split[user]) is_split[user] = IsSplit(axis, user);
        if ((*is_split[user] && Read(axis, user, use.operand) < 0) ||
            (reduced[user] == user && !IsBatchDerived(user))) {
          reduced[i] = i;
          break;
        }
        if (reduced[user].has_value() && IsWeightForm(user)) {
          reduced[i] = reduced[user];
        }
      }
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
