// The two numbers that name parts of a step: a segment by its place in the
// sequence, and a type of equal segments.
//
// Shapes: SegmentIndex indexes SegmentPlan::segments and Analysis::graphs;
// SegmentTypeId indexes Analysis::types and ProfileSpace::types.
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_SEGMENT_ID_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_SEGMENT_ID_H_

#include "base/strong_id.h"

namespace meshwright::segmenter {

using SegmentIndex = base::StrongIndex<struct SegmentTag>;
using SegmentTypeId = base::StrongIndex<struct SegmentTypeTag>;

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_SEGMENT_ID_H_
