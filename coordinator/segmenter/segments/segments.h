// Segments: the few pieces of a training step that are really different.
//
// Concept: the sequence of ParallelBlocks is covered by segments of at most one
// period and at most kMaxConfigurations configurations; whatever comes before
// the first block is the prologue and, where the last segment repeats, whatever
// comes after the last block the epilogue. Then every operation of the step,
// backward and update included, gets its segment: backward operations by the
// gradient border (the vertex on every path from later to earlier backward
// contractions), what a checkpoint computes anew by the forward operation it
// repeats, update operations by the parameter they update. Values that
// read only constants, iota and scalars belong to nobody: every segment
// computes them anew. The loops over layers of one group (loop_groups.h) are
// one segment, however many configurations it has. In -> Out: blocks, gradient
// matches -> SegmentPlan. Source: papers/cfp.txt 4.1, Eq. 7; design, section 4
// ("Segments").
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_SEGMENTS_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_SEGMENTS_H_

#include <cstdint>
#include <vector>

#include "coordinator/ir/module.h"
#include "coordinator/segmenter/blocks/blocks.h"
#include "coordinator/segmenter/direction/forward_backward.h"
#include "coordinator/segmenter/direction/gradients.h"
#include "coordinator/segmenter/segments/cover.h"

namespace meshwright::segmenter {

struct SegmentPlan {
  std::vector<Segment> segments;  // in sequence order
  // By LoopId: all of the loop is in one segment, whose programs run it as a
  // loop. The others are looked through: their segments hold one trip.
  std::vector<char> kept_loops;
  // By ValueId: the segment an operation belongs to. kEverywhere for values
  // every reader computes anew, kNowhere for parameters and the root.
  std::vector<int> owner;
  static constexpr int kEverywhere = -1;
  static constexpr int kNowhere = -2;
};

// `classes`: congruence.h; `configurations[b]` is the number of strategies of
// block b.
SegmentPlan PlanSegments(const ir::Module& module, const Direction& direction,
                         const BlockGraph& blocks,
                         const GradientMatches& gradients,
                         const std::vector<ir::ValueId>& classes,
                         const std::vector<int>& configurations);

// The same with a cover of the caller's: the blocks in order, every one once.
SegmentPlan PlaceSegments(const ir::Module& module, const Direction& direction,
                          const BlockGraph& blocks,
                          const GradientMatches& gradients,
                          const std::vector<ir::ValueId>& classes,
                          std::vector<Segment> cover);

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_SEGMENTS_H_
