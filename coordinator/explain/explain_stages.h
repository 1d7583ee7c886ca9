// ExplainStageChoices: what each choice inside each stage of a plan saves.
//
// Concept: as explain::ExplainChoices has it for a step on one mesh, of the
// stage's own work: the search of its segments is solved anew with the choice
// forbidden, within what the memory limit leaves a stage that holds so many
// micro-batches. Cuts, meshes and other stages stay as they are. What that does
// to the whole step is the pipeline's, and is told from the work.
// In → Out: a plan with stages, the step of it → one PlanChoice per stage and
// choice, in order of appearance. Nothing is measured; how a stage's time
// splits is estimated where the store does not know it. Units: seconds of a
// step; bytes per device. Errors: kInvalidArgument for a plan that is not one
// of this step; kNotFound where it has what was not measured; those of the
// search.
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
