// The staged planning pipeline: a request in, a plan with stages out.
//
// Concept: `plan`, where the mesh of the request is a cluster that the stages
// of a pipeline share out. The step is measured on every mesh a stage may have
// (measured_meshes.h), cut (partition_search.h), and every stage's plan written
// as `plan` writes it. Threads: as planning::MakePlan. Errors: kInvalidArgument
// for a request that asks for what cannot be; those of planning::MakePlan.
#ifndef MESHWRIGHT_COORDINATOR_STAGES_STAGED_PLAN_H_
#define MESHWRIGHT_COORDINATOR_STAGES_STAGED_PLAN_H_

#include "absl/status/statusor.h"
#include "coordinator/planning/plan_pipeline.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::stages {

absl::StatusOr<v1::Plan> MakeStagedPlan(
    const v1::PlanRequest& request,
    const planning::PlanDependencies& dependencies,
    const jobs::ProgressFunction& progress);

}  // namespace meshwright::stages

#endif  // MESHWRIGHT_COORDINATOR_STAGES_STAGED_PLAN_H_
