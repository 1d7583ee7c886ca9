// What grouped convolutions sum over and give, on a mesh of several axes.
//
// Concept: the gradient of a depthwise kernel is a convolution with batch
// groups. Where one mesh axis splits what it sums over and another holds copies
// of both operands, XLA's partitioner adds up the copies too, and the gradient
// comes out multiplied. Such an axis takes a part of the sum as well, for which
// copies are only cut; where the parts do not divide, none is split. Places
// beside copies, and operands that two axes split in two ways, are added up as
// wrongly, and are gathered. That holds in blocks, where strategies demand the
// operands, and in a prologue or epilogue, which takes them as they are split.
// A convolution with feature groups and one tap, too: where one axis splits the
// groups and another holds copies of the result, the partitioner makes a
// program that XLA's compiler for CPUs crashes on (jax.jit of that one
// convolution does the same). The axis with the copies takes a part of the
// groups then; where the parts do not divide, none is split. Who reads the
// result gets it as before.
#ifndef MESHWRIGHT_COORDINATOR_SPACE_ANNOTATION_GROUPED_SUMS_H_
#define MESHWRIGHT_COORDINATOR_SPACE_ANNOTATION_GROUPED_SUMS_H_

#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/annotation/segment_annotation.h"
#include "coordinator/space/annotation/sharding.h"

namespace meshwright::space {

// Changes what such convolutions ask of their operands, and how those of one
// tap are split.
void SpreadGroupedSums(const segmenter::Analysis& analysis,
                       const segmenter::SegmentGraph& graph, const Mesh& mesh,
                       SegmentAnnotation& annotation);

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_ANNOTATION_GROUPED_SUMS_H_
