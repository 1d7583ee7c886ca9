// StageValues: which module of which stage computes a value of the step.
//
//   stage   forward            backward                 update, by rounds
//     0     F ──────────┐      B ◀──────────┐           U
//     1         F ──────┴─────▶B ───────────┘           U
//
// Concept: a value belongs to the stage of the segment that owns it. There it
// belongs to the forward pass (what the losses need), the update (passes.h), or
// the backward pass. Where a schedule delays the gradients of weights, what no
// other segment's backward pass reads is a module of its own. Values that every
// segment computes for itself belong to nobody. A loop is in one module as a
// whole; in a loop that does something for the losses all is forward. An update
// that reads another stage's update (a norm over all gradients) is cut into
// rounds. A value's round is the number of stage boundaries that lie between it
// and the gradients, on the longest way.
// In -> Out: an analysed step, first segments of the stages -> by ValueId the
// place; none for arguments and what everybody computes.
// Errors: kUnimplemented for a step with a loop over micro-batches, or with a
// loop that several stages share.
#ifndef MESHWRIGHT_COORDINATOR_LAUNCH_STAGE_VALUES_H_
#define MESHWRIGHT_COORDINATOR_LAUNCH_STAGE_VALUES_H_

#include <compare>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/segmenter/analysis.h"
#include "coordinator/stages/passes.h"

namespace meshwright::launch {

enum class Pass { kForward, kBackward, kBackwardWeight, kUpdate };

struct Place {
  int stage = 0;
  Pass pass = Pass::kForward;
  int round = 0;  // of the update

  auto operator<=>(const Place&) const = default;
};

// "forward", "backward", "backward-weight", "update", "update-1".
std::string NamePlace(const Place& place);

// The number of the argument that a value is.
std::optional<int> FindArgument(const ir::Module& module, ir::ValueId id);

absl::StatusOr<std::vector<std::optional<Place>>> PlaceValues(
    const segmenter::Analysis& analysis, const stages::StepPasses& passes,
    const std::vector<segmenter::SegmentIndex>& first_segments,
    bool delays_weights);

}  // namespace meshwright::launch

#endif  // MESHWRIGHT_COORDINATOR_LAUNCH_STAGE_VALUES_H_
