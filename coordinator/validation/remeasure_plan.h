// RemeasurePlan: the rows of a plan once more, on the devices at hand.
//
// Concept: what `meshwright profiles remeasure` does. The programs that a
// plan's prediction is a sum of are measured again: those of named keys, or all
// of them, or those whose rows are noisy or gone. A plan with stages has such
// programs on every mesh of a stage; what splits a stage's time among its
// passes is not among them. The store adds the measurements to what it keeps.
// In -> Out: a plan and its request -> a row of the report for each program.
// Threads: one. Errors: kFailedPrecondition where the devices are others than
// the plan's; kNotFound for a key that the plan does not use; kInvalidArgument
// for a plan of another model; those of measuring.
#ifndef MESHWRIGHT_COORDINATOR_VALIDATION_REMEASURE_PLAN_H_
#define MESHWRIGHT_COORDINATOR_VALIDATION_REMEASURE_PLAN_H_

#include "absl/status/statusor.h"
#include "coordinator/planning/measuring.h"
#include "proto/v1/plan.pb.h"
#include "proto/v1/profiles.pb.h"
#include "proto/v1/reports.pb.h"

namespace meshwright::validation {

// Of `asked`, the plan's id is not read.
absl::StatusOr<v1::RemeasureReport> RemeasurePlan(
    const v1::Plan& plan, const v1::PlanRequest& request,
    const v1::RemeasureRequest& asked,
    const planning::PlanDependencies& dependencies,
    const jobs::ProgressFunction& progress);

}  // namespace meshwright::validation

#endif  // MESHWRIGHT_COORDINATOR_VALIDATION_REMEASURE_PLAN_H_
