// The answer to a request, once everything is measured: search, ties, figures.
//
// In → Out: a request and its measured step → the plan, or that none fits.
// Errors: those of search::Solve.
#ifndef MESHWRIGHT_COORDINATOR_PLANNING_PLAN_ANSWER_H_
#define MESHWRIGHT_COORDINATOR_PLANNING_PLAN_ANSWER_H_

#include "absl/status/statusor.h"
#include "coordinator/planning/measured_step.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::planning {

// Of the fastest plan's time, for the sake of a plan that does not change; on a
// machine whose times spread by more, fewer plans tie.
inline constexpr double kMostLoss = 0.01;

absl::StatusOr<v1::Plan> PlanOf(const v1::PlanRequest& request,
                                const MeasuredStep& step);

}  // namespace meshwright::planning

#endif  // MESHWRIGHT_COORDINATOR_PLANNING_PLAN_ANSWER_H_
