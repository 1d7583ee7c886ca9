// MakeSegmentProgram: one segment with one configuration, as an annotated
// module that workers compile and time.
//
// Concept: every instruction carries its sharding. Where a contraction needs an
// operand in another split than it has, a copy with that split stands between
// them. The partitioner thus chooses nothing.
// Threads: pure functions.
// Source: papers/cfp.txt 4.2; docs/decisions/program-keys.md.
#ifndef MESHWRIGHT_COORDINATOR_SPACE_PROGRAMS_SEGMENT_PROGRAM_H_
#define MESHWRIGHT_COORDINATOR_SPACE_PROGRAMS_SEGMENT_PROGRAM_H_

#include <vector>

#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/annotation/segment_annotation.h"
#include "coordinator/space/programs/program_key.h"

namespace meshwright::space {

// Which side of the loops that are looked through: in a step that accumulates
// gradients the trips do forward and backward, the update stands outside.
enum class LoopSide { kBoth, kInside, kOutside };

// A part of a segment as a program of its own; value indices of its graph.
struct ProgramPart {
  // In place of the segment's outputs. Values that none of them needs are not
  // written. In segments with loops they are, and the compiler drops them.
  std::vector<int> leaving;
  // By value: whether the part computes it. Values that it reads of the other
  // parts come in, where nobody else computes them. Empty: it computes all it
  // needs.
  std::vector<char> computed;

  bool empty() const { return leaving.empty(); }
};

// How much of a segment a program runs.
struct ProgramExtent {
  // Loops that no other written loop is around and that have `long_trips` run
  // `max_trips` instead; all others run their own.
  int64_t long_trips = 0;
  int64_t max_trips = INT64_MAX;
  // Inside: one trip, from what it enters with to what the next one does.
  LoopSide side = LoopSide::kBoth;
  bool recompute = false;  // forward values in the backward pass
  // Values that leave, too; they are outputs, so that no compiler drops them.
  bool hands_on = false;
  ProgramPart part;
};

// `inputs` are those of the step's arguments (inputs.h).
v1::Program MakeSegmentProgram(const segmenter::Analysis& analysis,
                               const segmenter::SegmentGraph& graph,
                               const SegmentAnnotation& annotation,
                               const std::vector<v1::InputSpec>& inputs,
                               const KeyContext& context,
                               const ProgramExtent& extent = {});

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_PROGRAMS_SEGMENT_PROGRAM_H_
