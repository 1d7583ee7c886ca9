// SplitSequence: the sequence switch, which splits what tensor parallelism
// leaves whole between its blocks.
//
// Concept: a block by columns wants its activation whole, and one by
// contraction ends in a sum that is whole. So every device computes the norms,
// residual adds and dropout between them. The switch splits these along the
// next row dimension (the sequence, behind the batch). The sum is scattered,
// the activation is gathered where columns begin, and the boundaries of the
// segment follow. Operations that join contractions inside a block (attention)
// keep their split. A joined contraction that adds up what the devices computed
// (the way back from experts) ends a block's split as a root does. In -> Out:
// the annotation without the switch -> with it. Threads: pure function.
// Source: Korthikanti et al., Reducing Activation Recomputation in Large
// Transformer Models (2022), 4.2.2.
#ifndef MESHWRIGHT_COORDINATOR_SPACE_ANNOTATION_SEQUENCE_SPLIT_H_
#define MESHWRIGHT_COORDINATOR_SPACE_ANNOTATION_SEQUENCE_SPLIT_H_

#include <vector>

#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/annotation/segment_annotation.h"

namespace meshwright::space {

SegmentAnnotation SplitSequence(
    const segmenter::Analysis& analysis, const segmenter::SegmentGraph& graph,
    const std::vector<const segmenter::Strategy*>& strategies,
    const SegmentAnnotation& plain, const Mesh& mesh);

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_ANNOTATION_SEQUENCE_SPLIT_H_
