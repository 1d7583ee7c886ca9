// SegmentPlan: the segments of a step, and the segment of every operation.
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_SEGMENT_PLAN_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_SEGMENT_PLAN_H_

#include <string>
#include <vector>

#include "coordinator/segmenter/blocks/blocks.h"
#include "coordinator/segmenter/direction/gradients.h"
#include "coordinator/segmenter/segments/cover.h"

namespace meshwright::segmenter {

// A step before it is cut into segments. Refers to values of its creator.
struct StepView {
  const ir::Module& module;
  const ForwardBackward& passes;
  const BlockGraph& blocks;
  const GradientMatches& gradients;
  const std::vector<ir::ValueId>& classes;  // value_numbering.h
};

struct SegmentPlan {
  std::vector<Segment> segments;  // in sequence order
  // By LoopId: all of the loop is in one segment, whose programs run it as a
  // loop. The others are looked through: their segments hold one trip.
  std::vector<char> kept_loops;
  // By ValueId: the segment an operation belongs to. kEverywhere for values
  // every reader recomputes, kNowhere for parameters and the root.
  std::vector<int> owner;
  static constexpr int kEverywhere = -1;
  static constexpr int kNowhere = -2;
  // Sentences: searches that their bounds ended, and what may be lost.
  std::vector<std::string> cut_short;
};

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_SEGMENT_PLAN_H_
