// Shardings of grouped convolutions that XLA's partitioner handles, on a mesh
// of several axes.
//
// Concept: the gradient of a depthwise kernel is a convolution with batch
// groups. One mesh axis may split what it sums over while another holds copies
// of both operands. XLA's partitioner then adds up the copies too, and the
// gradient comes out multiplied. Here the second axis takes a part of the sum
// as well; where the parts do not divide, none is split. Spatial splits beside
// copies, and operands that two axes split in two ways, are added up as
// wrongly, and are gathered. This holds in blocks, where strategies demand the
// operands, and in a prologue or epilogue, which takes them as they are split.
//
// A convolution with feature groups and one tap. Where one axis splits the
// groups and another holds copies of the result, XLA's compiler for CPUs
// crashes on the partitioned program. jax.jit of that one convolution does the
// same. The second axis takes a part of the groups; where the parts do not
// divide, none is split. Readers of the result get it as before. Threads: pure
// function.
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
