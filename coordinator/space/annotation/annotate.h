// AnnotateAxis: from the strategies of a segment's blocks to a split of every
// value of the segment, on one mesh axis.
//
// Concept: the strategies pin the root contractions. Inside a block the split
// follows the dimension links downwards. Operations that feed a block (weights,
// biases, masks, a norm) take the split their reader asks for. A backward
// contraction gets the transposed split of its forward one. A gradient is split
// like its activation, an optimizer state like its parameter. Every other value
// is whole on every device. Any annotation is correct; this one leaves the
// partitioner nothing to choose.
// In -> Out: segment graph, one strategy per block of it, pins -> one split per
// value, and the splits in which contractions read their operands.
// Shapes: a split is a dimension of the value, or kWhole.
// Threads: pure function.
// Source: papers/cfp.txt 3.3, Fig. 5.
#ifndef MESHWRIGHT_COORDINATOR_SPACE_ANNOTATION_ANNOTATE_H_
#define MESHWRIGHT_COORDINATOR_SPACE_ANNOTATION_ANNOTATE_H_

#include <map>
#include <utility>
#include <vector>

#include "base/sharding.h"
#include "coordinator/segmenter/analysis.h"

namespace meshwright::space {

// A number beside those of dimensions: the splits of a value on all axes are
// its sharding, base::AxisDims, and kWhole is kCopies there.
inline constexpr int kWhole = base::kCopies;

// Operand number `operand` of a value.
struct OperandPlace {
  int value = 0;
  int operand = 0;
  auto operator<=>(const OperandPlace&) const = default;
};

struct AxisAnnotation {
  std::vector<int> split;  // by value index
  // The split an operand must have where it is read.
  std::map<OperandPlace, int> demands;
  // Value -> the split it leaves the segment with, where that is not its own.
  std::map<int, int> results;

  bool operator==(const AxisAnnotation&) const = default;
};

// `strategies[i]` is for block first_block + i of the graph's segment. `pins`
// fixes values by index (a prologue has no strategy, only pins).
AxisAnnotation AnnotateAxis(
    const segmenter::Analysis& analysis, const segmenter::SegmentGraph& graph,
    const std::vector<const segmenter::AxisStrategy*>& strategies,
    int64_t parts, const std::map<int, int>& pins);

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_ANNOTATION_ANNOTATE_H_
