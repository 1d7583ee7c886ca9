// SymbolicPlan: a plan for people with no device.
//
// Concept: nothing is measured. The op-level solver chooses by the roofline of
// an assumed device and by the links that the request gives, or assumed ones;
// every block takes its nearest strategy. The prediction is the op-level plan's
// cost, and the notes of the plan say so.
// Errors: kInvalidArgument for a bad module, mesh, limit or link.
// Source: papers/map_colossal_auto.txt 5.1.
#ifndef MESHWRIGHT_COORDINATOR_PLANNING_SYMBOLIC_PLAN_H_
#define MESHWRIGHT_COORDINATOR_PLANNING_SYMBOLIC_PLAN_H_

#include <string>

#include "absl/status/statusor.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::planning {

absl::StatusOr<v1::Plan> MakeSymbolicPlan(const v1::PlanRequest& request);

// The plan that a baseline is, dp, tp, fsdp, alpa-like or map
// (coordinator/export/baselines.h), whether it fits the memory or not. It has
// no prediction. Errors also: kInvalidArgument for a name that is none, or none
// of this step.
absl::StatusOr<v1::Plan> MakeBaselinePlan(const v1::PlanRequest& request,
                                          const std::string& baseline);

}  // namespace meshwright::planning

#endif  // MESHWRIGHT_COORDINATOR_PLANNING_SYMBOLIC_PLAN_H_
