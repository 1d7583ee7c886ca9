// ChoosePlan: the answer to a request, once everything is measured.
//
// Concept: search, ties within the noise, figures, description.
// In → Out: a request and its measured step → the plan, or that none fits.
// Errors: those of search::Solve; kNotFound for a configuration without a row.
#ifndef MESHWRIGHT_COORDINATOR_PLANNING_CHOOSE_PLAN_H_
#define MESHWRIGHT_COORDINATOR_PLANNING_CHOOSE_PLAN_H_

#include "absl/status/statusor.h"
#include "coordinator/planning/measured_step.h"
#include "planner/search/search.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::planning {

// A tie may cost this share of the fastest plan's time.
inline constexpr double kMaxTieLoss = 0.01;

// `options`: of the searches.
absl::StatusOr<v1::Plan> ChoosePlan(const v1::PlanRequest& request,
                                    const MeasuredStep& step,
                                    const search::Options& options = {});

}  // namespace meshwright::planning

#endif  // MESHWRIGHT_COORDINATOR_PLANNING_CHOOSE_PLAN_H_
