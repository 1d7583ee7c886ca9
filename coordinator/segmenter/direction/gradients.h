// Gradients: which backward contraction differentiates which forward one.
//
// Concept: a forward contraction y = f(a, b) has up to two in the backward
// pass, da = g * b and db = a * g. They share the cotangent g of y. The one
// that reads b and the one that reads a are found through layout operations.
// Several contractions may share an operand (q, k and v read one activation).
// Then the partner that shares the cotangent decides, and after it the
// parameter the gradient flows to. A backward contraction that shares both
// operands with f is a recomputation of it.
// In -> Out: module, direction -> one GradientMatch per matched contraction.
// Source: docs/decisions/segmentation.md.
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_DIRECTION_GRADIENTS_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_DIRECTION_GRADIENTS_H_

#include <unordered_map>
#include <vector>

#include "coordinator/ir/module.h"
#include "coordinator/segmenter/direction/forward_backward.h"
#include "coordinator/segmenter/direction/gradient_dims.h"

namespace meshwright::segmenter {

using GradientMatches = std::unordered_map<ir::ValueId, GradientMatch>;

// `classes`: value_numbering.h. The search is bounded; where the bound ends it,
// `cut_short` is set, where there is one.
GradientMatches MatchGradients(const ir::Module& module,
                               const ForwardBackward& passes,
                               const std::vector<ir::ValueId>& classes,
                               bool* cut_short = nullptr);

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_DIRECTION_GRADIENTS_H_
