// What each choice inside the stages of a plan saves, from what a store knows.
//
// Concept: coordinator/stages/explain_stages.h has it for the work of a stage;
// here the pipeline is simulated again with that stage's work, under the plan's
// schedule, for what the whole step takes more.
// Errors: those of recall_stages.h and of the explanation.
#ifndef MESHWRIGHT_COORDINATOR_EXPLAIN_STAGE_CHOICES_H_
#define MESHWRIGHT_COORDINATOR_EXPLAIN_STAGE_CHOICES_H_

#include <string>

#include "absl/status/statusor.h"
#include "coordinator/jobs/measurer.h"
#include "planner/search/search.h"
#include "profiledb/store/profile_store.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::explain {

absl::StatusOr<v1::PlanExplanation> ExplainStageChoices(
    const v1::Plan& plan, std::string hlo_module,
    const jobs::DeviceDescription& device, store::ProfileStore* store,
    const search::Options& options);

}  // namespace meshwright::explain

#endif  // MESHWRIGHT_COORDINATOR_EXPLAIN_STAGE_CHOICES_H_
