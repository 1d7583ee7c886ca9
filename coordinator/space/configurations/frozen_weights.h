// Frozen weights: arguments that a step does not train, and reads as weights.
//
// Concept: all arguments of inference, and those of a training step that it
// does not overwrite, have the role of the batch. Some are weights all the
// same: a forward contraction reads them on its right side, where frameworks
// put weights, or a gather reads rows of them by indices. Operations that only
// move or slice them may stand between. In a training step a right side whose
// left side is made of parameters alone is no weight.
// In -> Out: an analysis and an argument's number -> whether it is one.
// Threads: pure functions.
#ifndef MESHWRIGHT_COORDINATOR_SPACE_CONFIGURATIONS_FROZEN_WEIGHTS_H_
#define MESHWRIGHT_COORDINATOR_SPACE_CONFIGURATIONS_FROZEN_WEIGHTS_H_

#include <optional>

#include "coordinator/segmenter/analysis.h"

namespace meshwright::space {

// A contraction that reads the argument as its weight; none: no frozen weight,
// or one that is only gathered from.
std::optional<ir::ValueId> FindWeightContraction(
    const segmenter::Analysis& analysis, int number);

bool IsFrozenWeight(const segmenter::Analysis& analysis, int number);

// Whether segments that read the argument have to split it alike: parameters
// and frozen weights.
bool IsWeight(const segmenter::Analysis& analysis, int number);

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_CONFIGURATIONS_FROZEN_WEIGHTS_H_
