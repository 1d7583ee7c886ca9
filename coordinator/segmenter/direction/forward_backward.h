// ForwardBackward: which part of a training step is forward, and what its
// arguments and outputs are.
//
// Concept: an output that overwrites an argument is state (step_outputs.h); of
// the other outputs the losses are those that depend on no gradient. Forward is
// what the losses need; a state argument the losses need is a parameter, any
// other one is optimizer state. A module without state is inference: all of it
// is forward. Names are never read.
// In -> Out: ir::Module -> ForwardBackward, vectors indexed by ValueId.
// Errors: kInvalidArgument when a step with state has no loss output.
// Source: docs/decisions/segmentation.md.
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_DIRECTION_FORWARD_BACKWARD_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_DIRECTION_FORWARD_BACKWARD_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/ir/module.h"

namespace meshwright::segmenter {

enum class ArgumentRole { kParameter, kOptimizer, kBatch, kOther };

const char* NameRole(ArgumentRole role);

struct ForwardBackward {
  std::vector<char> forward;          // is an ancestor of a loss
  std::vector<char> has_contraction;  // a root contraction is at or above it
  std::vector<char> batch_derived;  // an argument that is no state is above it
  // A parameter or a form of one. An argument that is no state may have gone
  // into it element by element, as a mask or a frozen weight does, but not
  // through a contraction or a gather.
  std::vector<char> weight_form;
  // Reads only constants, iota and scalar arguments: cheap to recompute in
  // every segment that needs it.
  std::vector<char> recomputable;
  // Keys that random bits are drawn with. Every layer has its own, so they are
  // made at the front and handed to the layers, which are then equal.
  std::vector<char> random_key;
  std::vector<int> loss_outputs;
  std::vector<ArgumentRole> roles;               // by parameter number
  std::vector<std::optional<int>> state_output;  // by parameter number
  // Arguments whose buffer an output takes, and outputs that take none: these
  // lie beside the arguments at the end of the step.
  std::vector<char> overwritten;
  std::vector<char> left_beside;
  bool inference = false;
  // Sentences: searches that their bounds ended, and what may be lost.
  std::vector<std::string> cut_short;
};

absl::StatusOr<ForwardBackward> FindForwardBackward(const ir::Module& module);

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_DIRECTION_FORWARD_BACKWARD_H_
