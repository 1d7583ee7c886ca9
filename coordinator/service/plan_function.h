// PlanFunction: how a plan is made, handed to the service that is asked for it,
// so that the service knows neither the store nor the graph.
// Errors: those of planning::MakePlan; kCancelled.
#ifndef MESHWRIGHT_COORDINATOR_SERVICE_PLAN_FUNCTION_H_
#define MESHWRIGHT_COORDINATOR_SERVICE_PLAN_FUNCTION_H_

#include <functional>

#include "absl/status/statusor.h"
#include "coordinator/jobs/measurer.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::service {

// Makes one plan; see coordinator/planning/plan_pipeline.h. `measurer` belongs
// to this request and returns kCancelled once its client has gone away.
using PlanFunction = std::function<absl::StatusOr<v1::Plan>(
    const v1::PlanRequest& request, jobs::Measurer* measurer,
    const jobs::ProgressFunction& progress)>;

}  // namespace meshwright::service

#endif  // MESHWRIGHT_COORDINATOR_SERVICE_PLAN_FUNCTION_H_
