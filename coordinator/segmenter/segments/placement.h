// Placement: what the steps that give operations to segments share.
//
// Concept: the plan as far as it is made, and what the steps
// (placement_steps.h) ask of a value.
// Threads and ownership: of one thread; refers to values of its creator.
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_PLACEMENT_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_PLACEMENT_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "coordinator/segmenter/segments/loop_groups.h"
#include "coordinator/segmenter/segments/segment_plan.h"

namespace meshwright::segmenter {

// The first segment: the prologue of a plan that has one.
inline constexpr SegmentIndex kPrologue(0);

// None: no owner among them.
struct OwnerRange {
  std::optional<SegmentIndex> lowest;
  std::optional<SegmentIndex> highest;
};

struct Placement : StepView {
  Placement(const StepView& step, const LoopGroups& loops)
      : StepView(step), groups(loops) {}

  const LoopGroups& groups;
  SegmentPlan plan;
  // By loop group: the one segment of the cover that holds it, if one does.
  std::vector<std::optional<size_t>> kept_cover;
  bool has_prologue = false;
  SegmentIndex last;                 // of the last block
  SegmentIndex tail;                 // of what follows it
  std::optional<SegmentIndex> glue;  // of scalars of several segments
  std::vector<char> scalar_like;     // by ValueId: a scalar or a row of scalars
  std::vector<char> repeats;         // by ValueId: placed with what it repeats

  // Parameters, the root and what everyone recomputes have no owner.
  bool Owned(ir::ValueId id) const;
  bool Backward(ir::ValueId id) const {
    return !passes.forward[id] && Owned(id);
  }
  // A gradient does not flow through a scalar (a norm for clipping).
  bool Carries(ir::ValueId id) const {
    return Backward(id) && !scalar_like[id];
  }
  // The segment of a value inside a kept loop, and of what leaves one.
  std::optional<SegmentIndex> KeptSegment(ir::ValueId id) const;
  // Of the operands that have an owner.
  OwnerRange ListOperandOwners(ir::ValueId id) const;
  // Scalars of several segments meet in a segment of their own, the last one.
  // It costs nothing, and no program depends on how many segments there are.
  SegmentIndex Glue();
};

// Fills `scalar_like`.
void FindScalarLike(Placement& at);

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_PLACEMENT_H_
