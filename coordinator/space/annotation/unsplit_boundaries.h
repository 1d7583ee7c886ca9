// UnsplitBoundaries: why the sequence switch leaves an activation whole.
//
// Concept: the split begins at the roots of blocks and spreads from operation
// to operation. For a boundary that it has not reached, the reason is the
// nearest operation at which the split ended; without one, the blocks beside
// the boundary had nothing to split. In -> Out: the splitter's final labels,
// and a boundary's value -> the reason. Threads: const after construction.
// Source: design, section 4 ("Strategies": refused per strategy with the
// reason).
#ifndef MESHWRIGHT_COORDINATOR_SPACE_ANNOTATION_UNSPLIT_BOUNDARIES_H_
#define MESHWRIGHT_COORDINATOR_SPACE_ANNOTATION_UNSPLIT_BOUNDARIES_H_

#include <map>
#include <optional>
#include <vector>

#include "coordinator/segmenter/segment_view.h"

namespace meshwright::space {

// Why the sequence switch leaves a boundary whole.
enum class UnsplitReason {
  kNothingSplit,  // no block beside it is split but by rows, if at all
  kNoRows,        // `at`: a root of which no row dimension divides
  kInside,        // `at`: of a block's inside (attention), itself or beside it
  kStopped,       // `at`: an operation that passes the split to or from it not
  kGradientOnly   // `at`: its gradient, which cannot be split alike
};

// An activation between segments that the sequence switch leaves whole.
struct UnsplitBoundary {
  int value = 0;  // of the segment's graph
  int axis = 0;
  UnsplitReason why = UnsplitReason::kNothingSplit;
  std::optional<int> at;   // of the graph
  int configurations = 0;  // for which that holds
};

struct SequenceLabels {
  const std::vector<int>& label;    // by value: the split dimension, or kWhole
  const std::vector<char>& closed;  // by value: inside of a block
  const std::vector<int>& unfit;    // roots of which no row dimension divides
  // Activations that a split had reached, and gradients that it had not.
  const std::map<int, int>& without_gradient;
};

class UnsplitBoundaries : segmenter::SegmentView {
 public:
  // The references outlive it.
  UnsplitBoundaries(const segmenter::Analysis& analysis,
                    const segmenter::SegmentGraph& graph, SequenceLabels labels)
      : SegmentView(analysis, graph), labels_(labels) {}

  // Without axis and number of configurations.
  UnsplitBoundary Explain(int activation) const;

 private:
  bool IsUnfit(int value) const;

  const SequenceLabels labels_;
};

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_ANNOTATION_UNSPLIT_BOUNDARIES_H_
