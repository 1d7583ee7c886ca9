// StageModules: the programs that the stages of a plan run, and what passes
// between them.
//
//   arguments ─▶ forward ─▶ values kept ─▶ backward ─▶ gradients ─▶ update
//                   │ ▲                      ▲ │                      │
//                   ▼ │ other stages         │ ▼               new state
//
// Concept: a module's parameters are the arguments its values read and the
// values of other modules. A backward pass keeps the values that it needs of
// its own forward pass, with two exceptions. One is a value that is only
// another form of a value (a broadcast, a reshape), the other a value that the
// plan recomputes. These are computed again from what is kept of them
// (space/rematerialization). With several micro-batches the gradients that the
// update reads are added to sums that a module takes and gives back. In -> Out:
// placed values -> modules, forward passes first, then backward passes from the
// last stage on, then updates by rounds. Empty ones are none. Shapes:
// parameters are `part.entering`, then the sums; outputs `part.leaving`, then
// the sums (export/step_writer.h).
// Errors: kUnimplemented for state that forward or backward passes write, where
// there are several micro-batches.
#ifndef MESHWRIGHT_COORDINATOR_LAUNCH_STAGE_MODULES_H_
#define MESHWRIGHT_COORDINATOR_LAUNCH_STAGE_MODULES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/export/step_writer.h"
#include "coordinator/launch/stage_values.h"
#include "coordinator/space/rematerialization/rematerialize.h"

namespace meshwright::launch {

struct StageModule {
  Place place;
  exporting::StepPart part;
};

// `rematerializations`: by segment, empty where it recomputes nothing.
absl::StatusOr<std::vector<StageModule>> FindModules(
    const segmenter::Analysis& analysis,
    const std::vector<std::optional<Place>>& places,
    const std::vector<space::Rematerialization>& rematerializations,
    int micro_batches);

}  // namespace meshwright::launch

#endif  // MESHWRIGHT_COORDINATOR_LAUNCH_STAGE_MODULES_H_
