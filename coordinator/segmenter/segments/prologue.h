// The prologue: what comes before the first segment.
//
// Concept: inside the model a segment begins where the blocks before it end.
// The first segment has no block before it, so its beginning is found by its
// likeness. The first segment and the next equal one are walked together from
// their ends. Where the later one reads a tensor of an earlier block, the first
// one reads the boundary of the prologue. Without an equal segment the boundary
// is the last value without contractions that several blocks read (the residual
// stream). Later segments with inputs of their own, a decoder's first layer,
// are walked the same way. In -> Out: the cover of the block sequence -> marks
// by ValueId.
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_PROLOGUE_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_PROLOGUE_H_

#include <vector>

#include "coordinator/segmenter/segments/segment_plan.h"

namespace meshwright::segmenter {

// The walks are bounded; where the bound ends them, `cut_short` is set.
std::vector<char> FindPrologue(const StepView& step,
                               const std::vector<Segment>& cover,
                               bool& cut_short);

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_PROLOGUE_H_
