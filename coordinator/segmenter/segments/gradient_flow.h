// Gradient flow: through which segments the gradient of a value comes and goes.
//
// Shapes: vectors by ValueId; segments, or the constants of placement.h.
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_GRADIENT_FLOW_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_GRADIENT_FLOW_H_

#include <vector>

#include "coordinator/segmenter/segments/placement.h"

namespace meshwright::segmenter {

struct GradientFlow {
  // Of a state output: the segment that updates its parameter, the first one
  // that reads it.
  std::vector<int> output_owner;
  // The segment whose contractions the gradient came through on its way `to`;
  // kSeveralSegments where gradients of one forward value meet that come from
  // several segments, each of which read it.
  std::vector<int> from;
  // The latest segment whose contractions the gradient goes on to; the prologue
  // counts when it ends in its parameters.
  std::vector<int> to;
  // The earliest segment whose parameters it updates.
  std::vector<int> reaches;
};

GradientFlow FindGradientFlow(const Placement& at);

// The segment where gradients of `from` and of `into` meet.
void JoinSegments(int from, int& into);

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_GRADIENT_FLOW_H_
