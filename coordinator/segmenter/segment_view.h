// SegmentView: a segment's graph with what the analysis knows of its values.
//
// Shapes: values and operands are value indices of the graph.
// Threads and ownership: const; analysis and graph outlive it.
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENT_VIEW_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENT_VIEW_H_

#include <vector>

#include "coordinator/ir/links/contraction_dims.h"
#include "coordinator/ir/links/dim_links.h"
#include "coordinator/segmenter/analysis.h"

namespace meshwright::segmenter {

class SegmentView {
 public:
  SegmentView(const Analysis& analysis, const SegmentGraph& graph)
      : analysis_(analysis),
        graph_(graph),
        count_(static_cast<int>(graph.values.size())) {}

  int count() const { return count_; }
  bool IsInput(int value) const { return graph_.is_input(value); }
  ir::ValueId Origin(int value) const { return graph_.values[value].origin; }
  const ir::Instruction& At(int value) const {
    return analysis_.module.at(Origin(value));
  }
  const std::vector<int>& Operands(int value) const {
    return graph_.values[value].operands;
  }
  const std::vector<int>& Users(int value) const {
    return graph_.values[value].users;
  }
  const std::vector<Use>& Uses(int value) const {
    return graph_.values[value].uses;
  }
  std::vector<ir::DimLink> Links(int user, int operand) const {
    return ir::FindDimLinks(analysis_.module, Origin(user), operand);
  }

  bool IsForward(int value) const {
    return analysis_.passes.forward[Origin(value)] != 0;
  }
  bool IsRecomputable(int value) const {
    return analysis_.passes.recomputable[Origin(value)] != 0;
  }
  bool IsArgument(int value) const {
    return At(value).opcode == ir::Opcode::kParameter;
  }
  // Of the segment; a contraction that enters is an input.
  bool IsContraction(int value) const {
    return !IsInput(value) &&
           ir::IsContraction(analysis_.module, Origin(value));
  }

 protected:
  const Analysis& analysis_;
  const SegmentGraph& graph_;
  const int count_;
};

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENT_VIEW_H_
