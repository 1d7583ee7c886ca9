// UnsplitBoundaries: why the sequence switch leaves an activation whole.
//
// Concept: the split begins at the roots of blocks and spreads from operation
// to operation. For a boundary that it has not reached, the reason is the
// nearest operation at which the split ended. Without one, the blocks beside
// the boundary had nothing to split. In -> Out: the splitter's final labels,
// and a boundary's value -> the reason. Threads: one at a time.
#ifndef MESHWRIGHT_COORDINATOR_SPACE_ANNOTATION_UNSPLIT_BOUNDARIES_H_
#define MESHWRIGHT_COORDINATOR_SPACE_ANNOTATION_UNSPLIT_BOUNDARIES_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
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
      : SegmentView(analysis, graph),
        labels_(labels),
        nothing_split_(std::none_of(labels.label.begin(), labels.label.end(),
                                    [](int dim) { return dim >= 0; })),
        unfit_(labels.unfit.begin(), labels.unfit.end()),
        seen_by_(graph.values.size()),
        looks_left_(int64_t{64} * count_) {}

  // Without axis and number of configurations; nothing where the boundaries
  // before took 64 looks per value of the graph.
  std::optional<UnsplitBoundary> Explain(int activation);

 private:
  const SequenceLabels labels_;
  const bool nothing_split_;
  const std::set<int> unfit_;
  // By value: the last activation explained that met it.
  std::vector<std::optional<int>> seen_by_;
  int64_t looks_left_;
};

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_ANNOTATION_UNSPLIT_BOUNDARIES_H_
