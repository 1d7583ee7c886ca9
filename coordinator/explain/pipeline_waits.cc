#include "coordinator/explain/pipeline_waits.h"

#include <algorithm>

#include "base/status_macros.h"
#include "coordinator/stages/planned_pipeline.h"

namespace meshwright::explain {
namespace {

using pipeline::PipelineProblem;
using problem::ToSeconds;

// Until the last stage has updated; shared parameters come behind.
absl::StatusOr<double> ComputeStep(const v1::Plan& plan,
                                   const PipelineProblem& problem) {
  ASSIGN_OR_RETURN(const pipeline::Timeline timeline,
                   stages::SimulatePlan(plan, problem));
  double step = 0;
  for (size_t i = 0; i < timeline.stages.size(); ++i) {
    const double end = ToSeconds(pipeline::FindStageEnd(problem, timeline, i));
    step =
        std::max(step, end + plan.stages(static_cast<int>(i)).update_seconds());
  }
  return step;
}

void ATenthLess(pipeline::Stage& stage) {
  stage.forward -= stage.forward / 10;
  stage.backward_input -= stage.backward_input / 10;
  stage.backward_weight -= stage.backward_weight / 10;
  if (stage.backward.has_value()) *stage.backward -= *stage.backward / 10;
}

}  // namespace

absl::StatusOr<double> SimulateStep(const v1::Plan& plan) {
  ASSIGN_OR_RETURN(const PipelineProblem problem, stages::ParsePipeline(plan));
  ASSIGN_OR_RETURN(const double step, ComputeStep(plan, problem));
  return step + plan.pipeline().shared_seconds();
}

absl::StatusOr<v1::PipelineWaits> FindPipelineWaits(const v1::Plan& plan) {
  ASSIGN_OR_RETURN(const PipelineProblem problem, stages::ParsePipeline(plan));
  ASSIGN_OR_RETURN(const double step, ComputeStep(plan, problem));
  const auto saved = [&](const PipelineProblem& faster) {
    auto shorter = ComputeStep(plan, faster);
    if (shorter.ok()) *shorter = step - *shorter;
    return shorter;
  };
  v1::PipelineWaits waits;
  waits.set_shared_seconds(plan.pipeline().shared_seconds());
  for (size_t i = 0; i < problem.stages.size(); ++i) {
    const v1::PlanStage& described = plan.stages(static_cast<int>(i));
    v1::StageWaits& stage = *waits.add_stages();
    stage.set_busy_seconds(problem.micro_batches *
                               (described.forward_seconds() +
                                stages::GetBackwardSeconds(plan, described)) +
                           described.update_seconds());
    stage.set_idle_seconds(
        std::max(0.0, step + waits.shared_seconds() - stage.busy_seconds()));
    PipelineProblem faster = problem;
    ATenthLess(faster.stages[i]);
    ASSIGN_OR_RETURN(const double seconds, saved(faster));
    stage.set_tenth_saves_seconds(seconds);
  }
  for (size_t i = 0; i < problem.transfers.size(); ++i) {
    PipelineProblem faster = problem;
    faster.transfers[i] = {};
    ASSIGN_OR_RETURN(const double seconds, saved(faster));
    waits.add_boundary_seconds(seconds);
  }
  return waits;
}

}  // namespace meshwright::explain
