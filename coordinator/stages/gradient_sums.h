// GradientSums: what adding a segment's gradients to those of the micro-batches
// before takes, as a program that is measured.
//
//   sum, gradient ─▶ sum       in the memory of the sum, split as the gradient
//
// Concept: the backward modules of a pipeline take the sums and give them back
// (launch/stage_modules.h); a segment, which is measured as the step of one
// micro-batch, has none.
// In -> Out: a segment, the gradients of its weights as values of its graph
// (passes.h) -> a program; none where nothing is summed.
#ifndef MESHWRIGHT_COORDINATOR_STAGES_GRADIENT_SUMS_H_
#define MESHWRIGHT_COORDINATOR_STAGES_GRADIENT_SUMS_H_

#include <optional>
#include <vector>

#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/programs/segment_program.h"

namespace meshwright::stages {

std::optional<v1::Program> GradientSums(
    const segmenter::Analysis& analysis, const segmenter::SegmentGraph& graph,
    const space::SegmentAnnotation& annotation,
    const std::vector<int>& gradients, const space::KeyContext& context);

}  // namespace meshwright::stages

#endif  // MESHWRIGHT_COORDINATOR_STAGES_GRADIENT_SUMS_H_
