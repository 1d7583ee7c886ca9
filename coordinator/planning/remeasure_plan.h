// RemeasurePlan: the rows of a plan once more, on the devices at hand.
//
// Concept: what `meshwright profiles remeasure` does. The programs that a
// plan's prediction is a sum of are measured again where their rows are noisy
// or gone, or all of them. The store adds the measurements to what it keeps. In
// -> Out: a plan and its request -> a row of the report for each program.
// Threads: one. Errors: kFailedPrecondition where the devices are others than
// the plan's; kInvalidArgument for a plan with stages; those of measuring.
#ifndef MESHWRIGHT_COORDINATOR_PLANNING_REMEASURE_PLAN_H_
#define MESHWRIGHT_COORDINATOR_PLANNING_REMEASURE_PLAN_H_

#include "absl/status/statusor.h"
#include "coordinator/planning/measuring.h"
#include "proto/v1/plan.pb.h"
#include "proto/v1/reports.pb.h"

namespace meshwright::planning {

absl::StatusOr<v1::RemeasureReport> RemeasurePlan(
    const v1::Plan& plan, const v1::PlanRequest& request, bool all,
    const PlanDependencies& dependencies,
    const jobs::ProgressFunction& progress);

}  // namespace meshwright::planning

#endif  // MESHWRIGHT_COORDINATOR_PLANNING_REMEASURE_PLAN_H_
