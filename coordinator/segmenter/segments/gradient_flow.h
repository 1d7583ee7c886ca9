// Gradient flow: through which segments the gradient of a value comes and goes.
//
// Shapes: vectors by ValueId.
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_GRADIENT_FLOW_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_GRADIENT_FLOW_H_

#include <optional>
#include <vector>

#include "coordinator/segmenter/segments/placement.h"

namespace meshwright::segmenter {

// The segments that gradients come from: none that is known, one or several.
struct GradientSource {
  std::optional<SegmentIndex> segment;
  bool several = false;

  bool IsNone() const { return !segment.has_value() && !several; }
  // Adds the segments of another one.
  void Join(const GradientSource& from);

  bool operator==(const GradientSource&) const = default;
};

struct GradientFlow {
  // Of a state output: the segment that updates its parameter, the first one
  // that reads it.
  std::vector<std::optional<SegmentIndex>> output_owner;
  // The segments whose contractions the gradient came through on its way `to`.
  // There are several where gradients of one forward value meet, one from each
  // segment that read it.
  std::vector<GradientSource> from;
  // The latest segment whose contractions the gradient goes on to, if any; the
  // prologue counts when it ends in its parameters.
  std::vector<std::optional<SegmentIndex>> to;
  // The earliest segment whose parameters it updates, if any.
  std::vector<std::optional<SegmentIndex>> reaches;
};

GradientFlow FindGradientFlow(const Placement& at);

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_GRADIENT_FLOW_H_
