// ExplainStageChoices: the time that each choice saves in its stage.
//
// Concept: as ExplainChoices for a step on one mesh, but for the work of one
// stage. The search of the stage's segments is solved again with the choice
// forbidden. Its memory is what the limit leaves to a stage with that many
// micro-batches. Cuts, meshes and other stages stay fixed. The effect on the
// step follows from the returned work of the stage.
// In -> Out: a plan with stages and its step -> one PlanChoice per stage and
// choice, in order of appearance. Nothing is measured; a stage's split into
// passes is estimated if the store lacks it.
// Units: seconds of a step; bytes per device.
// Errors: kInvalidArgument for a plan of another step; kNotFound if a
// configuration of the plan was not measured; those of the search.
#ifndef MESHWRIGHT_COORDINATOR_EXPLAIN_EXPLAIN_STAGES_H_
#define MESHWRIGHT_COORDINATOR_EXPLAIN_EXPLAIN_STAGES_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/stages/measured_meshes.h"
#include "coordinator/stages/partition_search.h"
#include "planner/search/search.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::explain {

struct StageChoices {
  v1::PlanExplanation explanation;
  // By choice: the work of its stage under the next best plan.
  std::vector<std::optional<stages::StageWork>> next;
};

// `request` is that of `step`, with a device to look up programs for.
absl::StatusOr<StageChoices> ExplainStageChoices(
    const v1::PlanRequest& request, const v1::Plan& plan,
    stages::MeasuredMeshes& step,
    const planning::PlanDependencies& dependencies,
    const search::Options& options);

}  // namespace meshwright::explain

#endif  // MESHWRIGHT_COORDINATOR_EXPLAIN_EXPLAIN_STAGES_H_
