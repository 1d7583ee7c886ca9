#include "coordinator/segmenter/testing/check_analysis.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace meshwright::segmenter {
namespace {

using ir::ValueId;

class Checker {
 public:
  explicit Checker(const Analysis& analysis)
      : analysis_(analysis), module_(analysis.module) {}

  absl::Status Check() {
    RETURN_IF_ERROR(CheckCover());
    RETURN_IF_ERROR(CheckStrategies());
    given_by_.assign(module_.size(), std::nullopt);
    const size_t segments = analysis_.plan.segments.size();
    if (analysis_.graphs.size() != segments ||
        analysis_.type_of_segment.size() != segments) {
      return Broken("some segments have no graph or type");
    }
    for (SegmentIndex s; s < segments; ++s) {
      RETURN_IF_ERROR(CheckGraph(s));
    }
    for (const SegmentGraph& graph : analysis_.graphs) {
      RETURN_IF_ERROR(CheckInputs(graph));
    }
    for (ValueId output : module_.outputs) {
      if (!given_by_[output].has_value() && !IsArgument(output)) {
        return Broken("no segment gives an output of the step", output);
      }
    }
    for (SegmentIndex s; s < segments; ++s) {
      RETURN_IF_ERROR(CheckType(s));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Broken(const std::string& what,
                      std::optional<ValueId> id = std::nullopt) const {
    return absl::InternalError(
        id.has_value() ? absl::StrCat(what, ": ", module_.at(*id).name())
                       : what);
  }

  bool IsArgument(ValueId id) const {
    return module_.at(id).opcode == ir::Opcode::kParameter;
  }

  absl::Status CheckCover() const {
    const auto& plan = analysis_.plan;
    const int blocks = static_cast<int>(analysis_.blocks.blocks.size());
    int next = 0;
    for (const Segment& segment : plan.segments) {
      if (segment.first_block == segment.last_block) continue;
      if (segment.first_block != next ||
          segment.last_block < segment.first_block) {
        return Broken("the segments do not cover the blocks in order");
      }
      next = segment.last_block;
    }
    if (next != blocks) return Broken("a block is in no segment");
    if (plan.owner.size() != module_.instructions.size()) {
      return Broken("some values have no owner");
    }
    for (const ValueId id : module_.ids()) {
      if (plan.owner[id].IsSegment() &&
          plan.owner[id].segment() >= plan.segments.size()) {
        return Broken("the owner is no segment", id);
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckStrategies() const {
    const auto& blocks = analysis_.blocks.blocks;
    if (analysis_.strategies.size() != blocks.size()) {
      return Broken("some blocks have no strategies");
    }
    for (size_t b = 0; b < blocks.size(); ++b) {
      if (analysis_.strategies[b].strategies.empty()) {
        return Broken("no strategy is left", blocks[b].roots[0]);
      }
      for (const Strategy& strategy : analysis_.strategies[b].strategies) {
        if (strategy.axes.size() != analysis_.mesh.size()) {
          return Broken("a strategy misses a mesh axis", blocks[b].roots[0]);
        }
        for (size_t axis = 0; axis < strategy.axes.size(); ++axis) {
          RETURN_IF_ERROR(
              CheckSplits(blocks[b], strategy.axes[axis].splits, axis));
        }
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckSplits(const ParallelBlock& block,
                           const std::vector<RootSplit>& splits,
                           size_t axis) const {
    if (splits.empty()) return absl::OkStatus();
    if (splits.size() != block.roots.size()) {
      return Broken("a strategy misses a root", block.roots[0]);
    }
    for (size_t r = 0; r < splits.size(); ++r) {
      const ir::Instruction& root = module_.at(block.roots[r]);
      const RootSplit& split = splits[r];
      for (const auto& [dim, shape] :
           {std::pair(split.lhs, &module_.at(root.operands[0]).shape),
            std::pair(split.rhs, &module_.at(root.operands[1]).shape),
            std::pair(split.out, &root.shape)}) {
        if (!dim.has_value()) continue;
        if (*dim < 0 || *dim >= shape->rank() ||
            shape->dims[*dim] % analysis_.mesh[axis] != 0) {
          return Broken("a strategy splits what the axis does not divide",
                        block.roots[r]);
        }
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckGraph(SegmentIndex segment) {
    const SegmentGraph& graph = analysis_.graphs[segment];
    const int size = static_cast<int>(graph.values.size());
    if (graph.segment != segment || graph.input_count > size) {
      return Broken("a graph is of another segment");
    }
    for (int i = 0; i < size; ++i) {
      const SegmentValue& value = graph.values[i];
      const Owner owner = analysis_.plan.owner[value.origin];
      const bool inner = owner == segment || owner.IsEverywhere();
      if (inner == graph.is_input(i)) {
        return Broken("a value stands on the wrong side of a boundary",
                      value.origin);
      }
      if (!inner) continue;
      const auto& operands = module_.at(value.origin).operands;
      if (operands.size() != value.operands.size()) {
        return Broken("a graph lost an operand", value.origin);
      }
      for (size_t k = 0; k < operands.size(); ++k) {
        if (value.operands[k] < 0 || value.operands[k] >= i ||
            graph.values[value.operands[k]].origin != operands[k]) {
          return Broken("a graph has another operand", value.origin);
        }
      }
    }
    for (int output : graph.outputs) {
      if (output < 0 || output >= size) {
        return Broken("an output is no value of its graph");
      }
      const ValueId origin = graph.values[output].origin;
      if (given_by_[origin].has_value()) {
        return Broken("two segments give one value", origin);
      }
      given_by_[origin] = segment;
    }
    return absl::OkStatus();
  }

  absl::Status CheckInputs(const SegmentGraph& graph) const {
    for (int i = 0; i < graph.input_count; ++i) {
      const ValueId origin = graph.values[i].origin;
      if (IsArgument(origin)) continue;
      const std::optional<SegmentIndex> owner =
          analysis_.plan.owner[origin].FindSegment();
      if (owner == graph.segment || given_by_[origin] != owner) {
        return Broken("its owner does not give what another segment takes",
                      origin);
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckType(SegmentIndex segment) const {
    const SegmentTypeId type = analysis_.type_of_segment[segment];
    if (type >= analysis_.types.size()) {
      return Broken("a segment has no type");
    }
    const SegmentGraph& graph = analysis_.graphs[segment];
    const SegmentGraph& first = analysis_.graphs[analysis_.types[type]];
    if (graph.values.size() != first.values.size() ||
        graph.input_count != first.input_count ||
        graph.outputs != first.outputs) {
      return Broken("segments of one type differ");
    }
    for (size_t i = 0; i < graph.values.size(); ++i) {
      if (!(module_.at(graph.values[i].origin).shape ==
            module_.at(first.values[i].origin).shape)) {
        return Broken("segments of one type differ in a shape",
                      graph.values[i].origin);
      }
    }
    return absl::OkStatus();
  }

  const Analysis& analysis_;
  const ir::Module& module_;
  // By ValueId: the segment whose output it is, if any.
  std::vector<std::optional<SegmentIndex>> given_by_;
};

}  // namespace

absl::Status CheckAnalysis(const Analysis& analysis) {
  return Checker(analysis).Check();
}

}  // namespace meshwright::segmenter
