// Placement: what the steps that give operations to segments share.
//
// Concept: PlaceSegments begins with the cover of the blocks and calls the
// steps below in their order. Each fills `plan.owner` for the operations that
// its rule decides; a later step keeps what an earlier one decided.
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

struct GradientFlow;  // gradient_flow.h

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
  OwnerRange OperandOwners(ir::ValueId id) const;
  // Scalars of several segments meet in a segment of their own, the last one:
  // it costs nothing, and no program depends on how many segments there are.
  SegmentIndex Glue();
};

// Fills `scalar_like`.
void FindScalarLike(Placement& at);

// Keeps the groups of loops whose blocks are all in one segment of the cover.
void KeepGroups(const std::vector<Segment>& cover, Placement& at);

// Some operation of the forward pass belongs to no block: it is on the way to
// the loss only.
bool HasTail(const Placement& at);

// Forward operations go to the prologue, the segment of their block, or the
// end. `prologue` by ValueId; `segment_of_block` by block.
void PlaceForward(const std::vector<char>& prologue,
                  const std::vector<SegmentIndex>& segment_of_block,
                  Placement& at);

// A backward contraction goes where its forward one is, a recomputed value
// where it was computed first. Between the contractions of two segments the
// gradient boundary (gradient_boundary.h) decides.
void PlaceGradients(const GradientFlow& flow, Placement& at);

// The rest of the backward pass. Updates go with their parameter, the gradient
// of the loss and what is kept for the backward pass with their reader. Sums
// over a segment's gradients stay where they come from; scalars of several
// segments meet in a segment of their own.
void PlaceUpdates(const GradientFlow& flow, Placement& at);

// A loop without contractions goes as a whole where its first part went.
void GatherSmallLoops(Placement& at);

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_PLACEMENT_H_
