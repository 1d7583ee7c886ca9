#include "coordinator/stages/planned_pipeline.h"

#include "base/status_macros.h"
#include "coordinator/problem/memory_limit.h"
#include "planner/pipeline/orders.h"
#include "planner/pipeline/simulate.h"
#include "planner/pipeline/validate.h"

namespace meshwright::stages {

double GetBackwardSeconds(const v1::Plan& plan, const v1::PlanStage& stage) {
  const bool apart = plan.pipeline().schedule() ==
                     pipeline::Name(pipeline::Schedule::kEager1F1BDelay);
  return stage.has_backward_seconds() && !apart
             ? stage.backward_seconds()
             : stage.backward_input_seconds() + stage.backward_weight_seconds();
}

absl::StatusOr<pipeline::PipelineProblem> ParsePipeline(const v1::Plan& plan) {
  pipeline::PipelineProblem problem;
  problem.micro_batches = plan.pipeline().micro_batches();
  problem.overlap = plan.pipeline().overlap();
  for (const v1::PlanStage& it : plan.stages()) {
    pipeline::Stage stage;
    ASSIGN_OR_RETURN(stage.forward, problem::FromSeconds(it.forward_seconds(),
                                                         "forward_seconds"));
    ASSIGN_OR_RETURN(stage.backward_input,
                     problem::FromSeconds(it.backward_input_seconds(),
                                          "backward_input_seconds"));
    ASSIGN_OR_RETURN(stage.backward_weight,
                     problem::FromSeconds(it.backward_weight_seconds(),
                                          "backward_weight_seconds"));
    if (it.has_backward_seconds()) {
      ASSIGN_OR_RETURN(
          stage.backward,
          problem::FromSeconds(it.backward_seconds(), "backward_seconds"));
    }
    stage.activation_bytes = it.activation_bytes();
    if (it.has_delayed_bytes()) stage.delayed_bytes = it.delayed_bytes();
    stage.persistent_bytes = it.persistent_bytes();
    problem.stages.push_back(stage);
    if (const auto limit = formulation::FindUsableBytes(plan.limit_bytes())) {
      problem.memory_limit_bytes.push_back(*limit);
    }
  }
  for (const v1::PlanBoundary& it : plan.boundaries()) {
    pipeline::Transfer transfer;
    ASSIGN_OR_RETURN(transfer.forward,
                     problem::FromSeconds(it.forward().makespan_seconds(),
                                          "makespan_seconds"));
    ASSIGN_OR_RETURN(transfer.backward,
                     problem::FromSeconds(it.backward().makespan_seconds(),
                                          "makespan_seconds"));
    problem.transfers.push_back(transfer);
  }
  RETURN_IF_ERROR(pipeline::Validate(problem));
  return problem;
}

absl::StatusOr<pipeline::Timeline> SimulatePlan(
    const v1::Plan& plan, const pipeline::PipelineProblem& problem) {
  ASSIGN_OR_RETURN(const pipeline::Schedule schedule,
                   pipeline::ParseSchedule(plan.pipeline().schedule()));
  return pipeline::Simulate(
      problem,
      pipeline::MakeOrders(schedule, problem.Stages(), problem.micro_batches),
      {plan.pipeline().weight_delay(), plan.pipeline().weight_delay_yields()});
}

}  // namespace meshwright::stages
