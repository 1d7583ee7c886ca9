#include "coordinator/explain/explain_plan.h"

#include <memory>
#include <utility>

#include "base/status_macros.h"
#include "coordinator/explain/explain_choices.h"
#include "coordinator/explain/explain_stages.h"
#include "coordinator/explain/pipeline_waits.h"
#include "coordinator/explain/recall.h"
#include "coordinator/jobs/recorded_device.h"
#include "coordinator/planning/plan_metadata.h"

namespace meshwright::explain {
namespace {

using problem::ToSeconds;

absl::StatusOr<double> SimulateStepWith(const v1::Plan& plan, int stage,
                                        const stages::StageWork& work) {
  v1::Plan other = plan;
  v1::PlanStage& it = *other.mutable_stages(stage);
  it.set_forward_seconds(ToSeconds(work.stage.forward));
  it.set_backward_input_seconds(ToSeconds(work.stage.backward_input));
  it.set_backward_weight_seconds(ToSeconds(work.stage.backward_weight));
  it.set_backward_seconds(ToSeconds(work.stage.Backward()));
  it.set_update_seconds(ToSeconds(work.update));
  return SimulateStep(other);
}

absl::StatusOr<v1::PlanExplanation> ExplainStages(
    const v1::Plan& plan, const v1::PlanRequest& request,
    const jobs::DeviceDescription& device, store::ProfileStore* store,
    const search::Options& options) {
  ASSIGN_OR_RETURN(const double step, SimulateStep(plan));
  ASSIGN_OR_RETURN(const std::unique_ptr<stages::MeasuredMeshes> measured,
                   RecallMeshes(request, device, store));
  jobs::RecordedDevice measurer(device);
  ASSIGN_OR_RETURN(StageChoices choices,
                   ExplainStageChoices(request, plan, *measured,
                                       {store, &measurer}, options));
  for (int i = 0; i < choices.explanation.choices_size(); ++i) {
    if (!choices.next[i].has_value()) continue;
    v1::PlanChoice& choice = *choices.explanation.mutable_choices(i);
    ASSIGN_OR_RETURN(
        const double other,
        SimulateStepWith(plan, choice.stage() - 1, *choices.next[i]));
    choice.mutable_next_best()->set_pipeline_more_seconds(other - step);
  }
  return std::move(choices.explanation);
}

}  // namespace

absl::StatusOr<v1::PlanExplanation> ExplainPlan(
    const v1::Plan& plan, std::string hlo_module, store::ProfileStore* store,
    const search::Options& options) {
  if (plan.has_pipeline()) {
    ASSIGN_OR_RETURN(const jobs::DeviceDescription device, ReadDevice(plan));
    return ExplainStages(plan,
                         planning::RestoreRequest(plan, std::move(hlo_module)),
                         device, store, options);
  }
  ASSIGN_OR_RETURN(const RecalledPlan recalled,
                   RecallChoice(plan, std::move(hlo_module), store));
  return ExplainChoices(recalled.step, recalled.choice, options);
}

}  // namespace meshwright::explain
