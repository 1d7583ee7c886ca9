#include "planner/pipeline/bound.h"

#include <algorithm>

namespace meshwright::pipeline {
namespace {

Picoseconds SumDirections(const Transfer& transfer) {
  return transfer.forward + transfer.backward;
}

// Until the gradient of the input is there, whatever is one operation.
Picoseconds MinInput(const Stage& stage) {
  return std::min(stage.backward_input, stage.Backward());
}

// The time of both gradients beyond that.
Picoseconds MinWeight(const Stage& stage) {
  return FindMinBackward(stage) - MinInput(stage);
}

// Forward and back as far as the gradient of the input.
Picoseconds ThroughIt(const Stage& stage) {
  return stage.forward + MinInput(stage);
}

}  // namespace

Picoseconds ComputeStepBound(const PipelineProblem& problem) {
  const int stages = problem.Stages();
  const int64_t all = problem.micro_batches;
  Picoseconds bound{0};
  // Until the first activation is at this stage.
  Picoseconds there{0};
  // From the end of an input gradient of this stage to the end of the step.
  Picoseconds back = MinWeight(problem.stages[0]);
  // From the end of a forward transfer behind this stage to the start of the
  // same micro-batch's backward transfer.
  Picoseconds beyond{0};
  for (int i = 1; i < stages; ++i) {
    beyond += ThroughIt(problem.stages[i]);
    if (i + 1 < stages) beyond += SumDirections(problem.transfers[i]);
  }
  for (int i = 0; i < stages; ++i) {
    const Stage& stage = problem.stages[i];
    const Transfer left = i == 0 ? Transfer{} : problem.transfers[i - 1];
    const Transfer right = i + 1 == stages ? Transfer{} : problem.transfers[i];
    const bool held = !problem.overlap;  // by its transfers
    const Picoseconds start = held ? there - left.forward : there;
    const Picoseconds drain = held ? back - left.backward : back;
    const Picoseconds work =
        ThroughIt(stage) +
        (held ? SumDirections(left) + SumDirections(right) : Picoseconds(0));
    bound = std::max(bound, start + all * (work + MinWeight(stage)));
    bound = std::max(bound, start + all * work + drain);
    if (i + 1 == stages) break;
    const Picoseconds sent = there + stage.forward;
    const Picoseconds after = MinInput(stage) + back;
    const Picoseconds longer = std::max(right.forward, right.backward);
    bound = std::max(bound, sent + SumDirections(right) + (all - 1) * longer +
                                beyond + after);
    there = sent + right.forward;
    back = right.backward + after;
    beyond -= ThroughIt(problem.stages[i + 1]);
    if (i + 2 < stages) beyond -= SumDirections(problem.transfers[i + 1]);
  }
  return bound;
}

}  // namespace meshwright::pipeline
