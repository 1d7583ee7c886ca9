// ForwardBackwardBarrier: where the forward pass of a segment ends and its
// backward pass begins.
//
// Concept: in a step the gradient of what leaves a segment exists only after
// what leaves. In a program of that segment alone it would be an argument like
// any other. XLA would fuse forward values into the backward pass and compute
// them twice. No path leads from one to the other except through what it fuses.
// So in a program every gradient that comes in waits for its activation, as it
// does in the step.
//
//   inputs ─▶ forward ─▶ activation ··▶ gradient ─▶ backward
//
// In -> Out: a segment graph -> the barrier; empty where no gradient comes in,
// or a loop over layers is kept as a loop.
// Threads: pure function.
// Source: docs/decisions/segmentation.md.
#ifndef MESHWRIGHT_COORDINATOR_SPACE_REMATERIALIZATION_FORWARD_BACKWARD_BARRIER_H_
#define MESHWRIGHT_COORDINATOR_SPACE_REMATERIALIZATION_FORWARD_BACKWARD_BARRIER_H_

#include <vector>

#include "coordinator/segmenter/analysis.h"

namespace meshwright::space {

struct ForwardBackwardBarrier {
  // Exits whose gradient is an input of the segment.
  std::vector<segmenter::BoundaryPair> exits;
  std::vector<char> behind;  // by value: depends on one of those gradients

  bool empty() const { return exits.empty(); }
};

ForwardBackwardBarrier FindForwardBackwardBarrier(
    const segmenter::Analysis& analysis, const segmenter::SegmentGraph& graph);

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_REMATERIALIZATION_FORWARD_BACKWARD_BARRIER_H_
