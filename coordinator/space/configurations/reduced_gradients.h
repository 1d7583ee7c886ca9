// CountReducedBytes: the gradients of a segment's parameters that are summed
// over devices.
//
// Concept: where a reader of a parameter computes on a part of the batch, the
// parameter's gradient is a sum over the parts, and devices reduce it. On such
// a mesh axis the forward pass reads the parameter whole, and what it makes of
// it is split. A frozen argument may go into the parameter first, as a mask or
// the weight that an adapter adds to does; the sum then counts as large as the
// value that is read. An axis that splits the parameter splits its gradient
// alike and reduces activations instead. These wait for one another, layer by
// layer, so that a compiler does not merge them behind the backward pass
// (coordinator/problem/peak_timeline.h). A switch that splits state counts as
// none: whether it reduces gradients whole is up to the compiler.
// In -> Out: a segment's graph and its annotation -> bytes on one device.
// Threads: pure function.
#ifndef MESHWRIGHT_COORDINATOR_SPACE_CONFIGURATIONS_REDUCED_GRADIENTS_H_
#define MESHWRIGHT_COORDINATOR_SPACE_CONFIGURATIONS_REDUCED_GRADIENTS_H_

#include <cstdint>

#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/annotation/segment_annotation.h"

namespace meshwright::space {

int64_t CountReducedBytes(const segmenter::Analysis& analysis,
                          const segmenter::SegmentGraph& graph,
                          const SegmentAnnotation& annotation,
                          const Mesh& mesh);

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_CONFIGURATIONS_REDUCED_GRADIENTS_H_
