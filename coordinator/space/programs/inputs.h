// Inputs of profile and validation runs.
//
// Concept: how the step uses an argument decides what fills it. Indices stay in
// the range of what they index. Second moments are positive (they meet a square
// root), step counts are at least one, everything else is normal. Weights are
// scaled by what they are summed over, so that signals and gradients stay of
// order one through any depth, whether the step trains them or not. First
// moments are small, so that an error in a gradient shows in the outputs of the
// step. Equal arguments get equal seeds, so that every sharding of a program
// sees the same numbers.
// Threads: pure functions.
// Source: docs/decisions/program-keys.md.
#ifndef MESHWRIGHT_COORDINATOR_SPACE_PROGRAMS_INPUTS_H_
#define MESHWRIGHT_COORDINATOR_SPACE_PROGRAMS_INPUTS_H_

#include <vector>

#include "coordinator/segmenter/analysis.h"
#include "proto/v1/job.pb.h"

namespace meshwright::space {

// By parameter number of the step.
std::vector<v1::InputSpec> MakeArgumentInputs(
    const segmenter::Analysis& analysis);

// For a boundary tensor; `seed` tells tensors of one program apart.
v1::InputSpec MakeBoundaryInput(const ir::Shape& shape, uint64_t seed);

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_PROGRAMS_INPUTS_H_
