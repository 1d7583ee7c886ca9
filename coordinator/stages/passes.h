// Passes: which values of a step are forward, gradients of activations,
// gradients of weights, and the update; per segment what leaves it when.
//
//   forward ──▶ activations' gradients ──▶ weights' gradients ║ update
//                                                    once per step
//
// Concept: the update is what is left when the gradients of weights are there.
// It is values behind the backward pass all of whose readers are update, down
// to new parameters and states. They map equal indices to equal indices, move,
// spread or convert, or are scalars (a norm for clipping). The values it reads
// that are neither forward nor update are the gradients of weights. An
// operation that no rule takes for update counts once per micro-batch.
//
// A loop that does something for the losses is forward as a whole.
// Programs of a part of a segment may have fewer outputs; what those do not
// need is not there (space::ProgramPart). There are four: forward alone, with
// the boundary gradients, with the weights' gradients, and everything. The
// differences are the forward pass, the gradient of the input, that of the
// weights and the update.
// Shapes: value indices of the segment's graph.
// Source: docs/decisions/stages.md.
#ifndef MESHWRIGHT_COORDINATOR_STAGES_PASSES_H_
#define MESHWRIGHT_COORDINATOR_STAGES_PASSES_H_

#include <vector>

#include "coordinator/segmenter/analysis.h"

namespace meshwright::stages {

// By ValueId.
struct StepPasses {
  std::vector<char> forward;  // what the losses need, loops over layers whole
  std::vector<char> update;
  std::vector<char> weight_gradient;  // read by the update, not of it
};

// The outermost loop that a value is of, inside or at its boundary, and that is
// written as one.
std::optional<ir::LoopId> FindKeptLoop(const segmenter::Analysis& analysis,
                                       ir::ValueId id);

// Another form of its operand, which costs nothing to make again.
bool IsForm(const ir::Instruction& it);

StepPasses FindPasses(const segmenter::Analysis& analysis);

// Outputs of the programs of one segment, each with those before it.
struct SegmentPasses {
  std::vector<int> forward;
  std::vector<int> with_input_gradients;
  std::vector<int> with_all_gradients;
};

SegmentPasses ListPassOutputs(const segmenter::Analysis& analysis,
                              const StepPasses& passes,
                              segmenter::SegmentIndex segment);

// Values of its graph that are gradients of weights, which add up over
// micro-batches.
std::vector<int> ListWeightGradients(const segmenter::Analysis& analysis,
                                     const StepPasses& passes,
                                     segmenter::SegmentIndex segment);

}  // namespace meshwright::stages

#endif  // MESHWRIGHT_COORDINATOR_STAGES_PASSES_H_
