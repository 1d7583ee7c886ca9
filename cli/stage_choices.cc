#include "cli/stage_choices.h"

#include <memory>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "cli/recall_stages.h"
#include "cli/stages_explanation.h"
#include "cli/stages_text.h"
#include "coordinator/jobs/recorded_device.h"
#include "coordinator/stages/explain_stages.h"
#include "planner/pipeline/memory.h"

namespace meshwright::cli {
namespace {

using problem::ToSeconds;

// How many micro-batches each stage holds at most.
absl::StatusOr<std::vector<int>> HeldBy(const v1::Plan& plan) {
  ASSIGN_OR_RETURN(pipeline::PipelineProblem problem, PipelineOf(plan));
  for (pipeline::Stage& stage : problem.stages) {
    stage.activation_bytes = 1;
    stage.persistent_bytes = 0;
  }
  ASSIGN_OR_RETURN(const pipeline::Timeline timeline,
                   TimelineOf(plan, problem));
  std::vector<int> held;
  for (const int64_t bytes : pipeline::PeakBytes(problem, timeline)) {
    held.push_back(static_cast<int>(bytes));
  }
  return held;
}

absl::StatusOr<double> StepWith(const v1::Plan& plan, int stage,
                                const stages::StageWork& work) {
  v1::Plan other = plan;
  v1::PlanStage& it = *other.mutable_stages(stage);
  it.set_forward_seconds(ToSeconds(work.stage.forward));
  it.set_backward_input_seconds(ToSeconds(work.stage.backward_input));
  it.set_backward_weight_seconds(ToSeconds(work.stage.backward_weight));
  it.set_update_seconds(ToSeconds(work.update));
  return SimulatedStep(other);
}

}  // namespace

absl::StatusOr<v1::PlanExplanation> ExplainStageChoices(
    const v1::Plan& plan, std::string hlo_module,
    const jobs::DeviceDescription& device, store::ProfileStore* store,
    const search::Options& options) {
  ASSIGN_OR_RETURN(const std::vector<int> held, HeldBy(plan));
  ASSIGN_OR_RETURN(const double step, SimulatedStep(plan));
  const v1::PlanRequest request = StagedRequestOf(plan, std::move(hlo_module));
  ASSIGN_OR_RETURN(const std::unique_ptr<stages::MeasuredMeshes> measured,
                   RecallStages(request, device, store));
  jobs::RecordedDevice measurer(device);
  ASSIGN_OR_RETURN(stages::StageChoices choices,
                   stages::ExplainStageChoices(request, plan, held, *measured,
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

}  // namespace meshwright::cli
