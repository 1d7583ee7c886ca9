// Loop accumulators: what the loops of a segment collect, trip by trip.
//
// Concept: one element of a loop is four values. They are what enters the loop,
// what enters a trip (the carry), what that trip leaves for the next one, and
// what leaves the loop. A trip that only writes its part into a stack, or adds
// it to a sum, accumulates. The values between carry and next have the
// dimensions of both. A split of one is a split of all, if nothing else reads
// them in the loop.
// In -> Out: a segment's graph -> its accumulators, by any of their values.
// Shapes: value indices of the graph.
// Threads: const after construction.
#ifndef MESHWRIGHT_COORDINATOR_SPACE_ANNOTATION_LOOP_ACCUMULATORS_H_
#define MESHWRIGHT_COORDINATOR_SPACE_ANNOTATION_LOOP_ACCUMULATORS_H_

#include <optional>
#include <unordered_map>
#include <vector>

#include "coordinator/segmenter/analysis.h"

namespace meshwright::space {

struct LoopAccumulator {
  int entering = 0;
  int carry = 0;
  int result = 0;
  // From the first reader of the carry to what enters the next trip:
  // elementwise operations, and slices written to a stack.
  std::vector<int> between;

  int next() const { return between.back(); }
};

class LoopAccumulators {
 public:
  LoopAccumulators(const segmenter::Analysis& analysis,
                   const segmenter::SegmentGraph& graph);

  // The element that a carry, a loop's result or a value between them belongs
  // to. Null where it is none of these, or the element does more than gather.
  const LoopAccumulator* Find(int value) const;

 private:
  std::vector<LoopAccumulator> elements_;
  std::unordered_map<int, int> of_value_;
};

// Operand number of `user` that is `value`, the first one; none where it does
// not read the value.
std::optional<int> FindOperand(const segmenter::SegmentGraph& graph, int user,
                               int value);

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_ANNOTATION_LOOP_ACCUMULATORS_H_
