// SegmentGraph: one segment as a graph of its own, in canonical form.
//
// Concept: the operations a segment owns, plus the recomputable ones it needs,
// become a small graph. Its inputs are arguments of the step and boundary
// tensors. Its order depends on structure only: outputs sorted by structural
// hash, everything else by first visit from them. Two segments with equal
// fingerprints are the same program, value by value. A decision for one holds
// for the other index by index.
// In -> Out: module, segment plan -> one graph per segment.
// Source: papers/cfp.txt 4.1; docs/decisions/segmentation.md.
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_EXTRACT_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_EXTRACT_H_

#include <string>
#include <vector>

#include "coordinator/ir/module.h"
#include "coordinator/segmenter/blocks/blocks.h"
#include "coordinator/segmenter/direction/forward_backward.h"
#include "coordinator/segmenter/direction/gradients.h"
#include "coordinator/segmenter/segments/segment_id.h"
#include "coordinator/segmenter/segments/segments.h"

namespace meshwright::segmenter {

// Where a value is read.
struct Use {
  int user = 0;     // value index
  int operand = 0;  // its number there
};

struct SegmentValue {
  ir::ValueId origin;         // of this instance, in the module
  std::vector<int> operands;  // indices of values; empty for inputs
  std::vector<int> users;     // distinct, ascending
  std::vector<Use> uses;      // by user, then operand
};

struct BoundaryPair {
  int activation = 0;  // value index: a boundary input or output
  int gradient = 0;    // value index of its gradient, an output or input
};

// State that the segment updates: value indices of the argument and of what
// overwrites it.
struct StateUpdate {
  int argument = 0;
  int updated = 0;
};

struct SegmentGraph {
  SegmentIndex segment;
  int input_count = 0;               // values [0, input_count) are inputs
  std::vector<SegmentValue> values;  // dependency order
  std::vector<int> outputs;          // value indices, distinct
  std::vector<StateUpdate> state;
  std::vector<BoundaryPair> entries;  // activation in, gradient out
  std::vector<BoundaryPair> exits;    // activation out, gradient in
  std::string fingerprint;            // SHA-256 of the canonical form

  bool is_input(int index) const { return index < input_count; }
  // The entries, then the exits.
  std::vector<BoundaryPair> boundary_pairs() const;
};

std::vector<SegmentGraph> ExtractSegments(const ir::Module& module,
                                          const ForwardBackward& passes,
                                          const SegmentPlan& plan,
                                          const std::vector<uint64_t>& hashes);

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_EXTRACT_H_
