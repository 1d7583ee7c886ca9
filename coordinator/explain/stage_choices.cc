#include "coordinator/explain/stage_choices.h"

#include <memory>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "coordinator/explain/explain_stages.h"
#include "coordinator/explain/pipeline_waits.h"
#include "coordinator/explain/recall_stages.h"
#include "coordinator/jobs/recorded_device.h"

namespace meshwright::explain {
namespace {

using problem::ToSeconds;

absl::StatusOr<double> StepWith(const v1::Plan& plan, int stage,
                                const stages::StageWork& work) {
  v1::Plan other = plan;
  v1::PlanStage& it = *other.mutable_stages(stage);
  it.set_forward_seconds(ToSeconds(work.stage.forward));
  it.set_backward_input_seconds(ToSeconds(work.stage.backward_input));
  it.set_backward_weight_seconds(ToSeconds(work.stage.backward_weight));
  it.set_backward_seconds(ToSeconds(work.stage.Backward()));
  it.set_update_seconds(ToSeconds(work.update));
  return SimulatedStep(other);
}

}  // namespace

absl::StatusOr<v1::PlanExplanation> ExplainStageChoices(
    const v1::Plan& plan, std::string hlo_module,
    const jobs::DeviceDescription& device, store::ProfileStore* store,
    const search::Options& options) {
  ASSIGN_OR_RETURN(const double step, SimulatedStep(plan));
  const v1::PlanRequest request = StagedRequestOf(plan, std::move(hlo_module));
  ASSIGN_OR_RETURN(const std::unique_ptr<stages::MeasuredMeshes> measured,
                   RecallStages(request, device, store));
  jobs::RecordedDevice measurer(device);
  ASSIGN_OR_RETURN(StageChoices choices,
                   ExplainStageChoices(request, plan, *measured,
                                       {store, &measurer}, options));
  for (int i = 0; i < choices.explanation.choices_size(); ++i) {
    if (!choices.next[i].has_value()) continue;
    v1::PlanChoice& choice = *choices.explanation.mutable_choices(i);
    ASSIGN_OR_RETURN(const double other,
                     StepWith(plan, choice.stage() - 1, *choices.next[i]));
    choice.mutable_next_best()->set_pipeline_more_seconds(other - step);
  }
  return std::move(choices.explanation);
}

}  // namespace meshwright::explain
