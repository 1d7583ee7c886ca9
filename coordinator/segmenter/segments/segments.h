// Segments: the few pieces of a training step that are really different.
//
// Concept: the sequence of ParallelBlocks is covered by segments of at most one
// period and at most kMaxConfigurations configurations. Whatever comes before
// the first block is the prologue. Where the last segment repeats, whatever
// comes after the last block is the epilogue. Then every operation of the step,
// backward and update included, gets its segment. Backward operations get it by
// the gradient boundary (the vertex on every path from later to earlier
// backward contractions). Operations of a checkpoint get it by the forward
// operation they repeat, update operations by the parameter they update. Values
// that read only constants, iota and scalars belong to nobody: every segment
// recomputes them. The loops over layers of one group (loop_groups.h) are one
// segment, however many configurations it has. In -> Out: blocks, gradient
// matches -> SegmentPlan. Source: papers/cfp.txt 4.1, Eq. 7;
// docs/decisions/segmentation.md.
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_SEGMENTS_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_SEGMENTS_H_

#include <vector>

#include "coordinator/segmenter/segments/segment_plan.h"

namespace meshwright::segmenter {

// `configurations[b]` is the number of strategies of block b.
SegmentPlan PlanSegments(const StepView& step,
                         const std::vector<int>& configurations);

// The same with a cover of the caller's: the blocks in order, every one once.
SegmentPlan PlaceSegments(const StepView& step, std::vector<Segment> cover);

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_SEGMENTS_H_
