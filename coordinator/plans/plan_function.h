// PlanFunction: how a plan is made, handed to the service, so that who runs
// plans knows nothing of the graph.
// Errors: those of planning::MakePlan; kCancelled.
#ifndef MESHWRIGHT_COORDINATOR_PLANS_PLAN_FUNCTION_H_
#define MESHWRIGHT_COORDINATOR_PLANS_PLAN_FUNCTION_H_

#include <functional>

#include "absl/status/statusor.h"
#include "coordinator/jobs/measurer.h"
#include "proto/v1/plan.pb.h"
#include "proto/v1/reports.pb.h"

namespace meshwright::plans {

// Makes one plan; see coordinator/planning/plan_pipeline.h. `measurer` belongs
// to this run of it. The run returns kCancelled once the plan is cancelled, and
// a suspension (coordinator/jobs/suspension.h) where its devices are not at
// hand.
using PlanFunction = std::function<absl::StatusOr<v1::Plan>(
    const v1::PlanRequest& request, jobs::Measurer* measurer,
    const jobs::ProgressFunction& progress)>;

// The programs of a plan that the store knows, on the measurer's devices. The
// measurer is only asked for their description.
using CoverageFunction = std::function<absl::StatusOr<v1::CoverageReport>(
    const v1::PlanRequest& request, jobs::Measurer* measurer)>;

}  // namespace meshwright::plans

#endif  // MESHWRIGHT_COORDINATOR_PLANS_PLAN_FUNCTION_H_
