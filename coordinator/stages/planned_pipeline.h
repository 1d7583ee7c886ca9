// PlannedPipeline: the pipeline that a plan with stages describes.
//
// Concept: describe_stages.h writes what the stages of a plan take; here that
// is a problem again, and the plan's schedule of it a timeline.
// Units: seconds of a plan are picoseconds there.
// Errors: kInvalidArgument for a plan whose stages or schedule are none.
#ifndef MESHWRIGHT_COORDINATOR_STAGES_PLANNED_PIPELINE_H_
#define MESHWRIGHT_COORDINATOR_STAGES_PLANNED_PIPELINE_H_

#include "absl/status/statusor.h"
#include "planner/pipeline/pipeline_problem.h"
#include "planner/pipeline/timeline.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::stages {

// Of one micro-batch's gradients, apart where the plan's schedule has them so.
double GetBackwardSeconds(const v1::Plan& plan, const v1::PlanStage& stage);

absl::StatusOr<pipeline::PipelineProblem> ParsePipeline(const v1::Plan& plan);

// How it runs the schedule that it has on these stages, its own or like them.
absl::StatusOr<pipeline::Timeline> SimulatePlan(
    const v1::Plan& plan, const pipeline::PipelineProblem& problem);

}  // namespace meshwright::stages

#endif  // MESHWRIGHT_COORDINATOR_STAGES_PLANNED_PIPELINE_H_
