// Programs: annotated modules that workers compile and time.
//
// Concept: a segment with one configuration, the resharding of one border, or
// the whole step. Every instruction carries its sharding; where a contraction
// needs an operand in another split than it has, a copy with that split stands
// between them, so that the partitioner chooses nothing. A program's key is
// SHA-256 over its bytes, which are canonical (the writer's ids depend on
// structure only, none of its messages has a map), and everything else its time
// depends on.
// Threads: pure functions.
// Source: papers/cfp.txt 4.2; design, section 4 ("Programs").
#ifndef MESHWRIGHT_COORDINATOR_SPACE_PROGRAMS_H_
#define MESHWRIGHT_COORDINATOR_SPACE_PROGRAMS_H_

#include <string>
#include <vector>

#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/annotate.h"
#include "coordinator/space/sharding.h"
#include "proto/v1/job.pb.h"

namespace meshwright::space {

// Everything beside the module that a program's time depends on.
struct KeyContext {
  // Whether the compiler minds barriers to the end; XLA's for CPUs drops them
  // before it merges equal operations and orders what is left.
  bool keeps_barriers = true;
  Mesh mesh;
  std::string device_kind;
  std::string platform_version;
  v1::MeasureOptions options;
};

// Splits of one segment on all mesh axes.
struct SegmentAnnotation {
  std::vector<AxisAnnotation> axes;  // by mesh axis

  Sharding Of(int value, const ir::Shape& shape, const Mesh& mesh) const;
  // What operand number `operand` of `value` must be; its own sharding where
  // nothing is demanded.
  Sharding Demanded(int value, int operand, int operand_value,
                    const ir::Shape& shape, const Mesh& mesh) const;
  // What an output of the segment leaves as.
  Sharding Leaving(int value, const ir::Shape& shape, const Mesh& mesh) const;
};

// Which side of the loops that are looked through: in a step that accumulates
// gradients the trips do forward and backward, the update stands outside.
enum class LoopSide { kBoth, kInside, kOutside };

// A part of a segment as a program of its own; value indices of its graph.
struct ProgramPart {
  // In place of the segment's outputs. What none of them needs is not written,
  // but in segments with loops, where the compiler drops it.
  std::vector<int> leaving;
  // By value: whether the part computes it. What it reads of the others comes
  // in, where nobody else computes it. Empty: it computes all it needs.
  std::vector<char> computed;

  bool empty() const { return leaving.empty(); }
};

// How much of a segment a program runs.
struct ProgramExtent {
  int64_t most_trips = INT64_MAX;  // of every counted loop
  // Inside: one trip, from what it enters with to what the next one does.
  LoopSide side = LoopSide::kBoth;
  bool recompute = false;  // forward values anew in the backward pass
  // What leaves, too; it is an output, so that no compiler drops it.
  bool hands_on = false;
  ProgramPart part;
};

// `inputs` are those of the step's arguments (inputs.h).
v1::Program SegmentProgram(const segmenter::Analysis& analysis,
                           const segmenter::SegmentGraph& graph,
                           const SegmentAnnotation& annotation,
                           const std::vector<v1::InputSpec>& inputs,
                           const KeyContext& context,
                           const ProgramExtent& extent = {});

// Converts `shape` from one sharding to another and `gradients` equal tensors
// back.
v1::Program ReshardingProgram(const ir::Shape& shape, const Sharding& from,
                              const Sharding& to, int gradients,
                              const KeyContext& context);

std::string ProgramKey(const v1::Program& program, const KeyContext& context);

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_PROGRAMS_H_
