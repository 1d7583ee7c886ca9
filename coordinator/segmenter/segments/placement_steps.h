// Placement steps: which operations belong to which segment, rule by rule.
//
// Concept: PlaceSegments begins with the cover of the blocks and calls the
// steps below in their order. Each fills `plan.owner` for the operations that
// its rule decides; a later step keeps what an earlier one decided.
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_PLACEMENT_STEPS_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_PLACEMENT_STEPS_H_

#include <vector>

#include "coordinator/segmenter/segments/gradient_flow.h"
#include "coordinator/segmenter/segments/placement.h"

namespace meshwright::segmenter {

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

// No program hands on a tuple: what reads the result of an operation with
// several is in its segment, and a tuple of arguments in its reader's.
void GatherTuples(Placement& at);

// A loop without contractions goes as a whole where its first part went.
void GatherSmallLoops(Placement& at);

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_PLACEMENT_STEPS_H_
