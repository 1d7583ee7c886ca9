// PlanWithin: recomputation is searched too where memory is short.
//
// Concept: a limit that costs time, or leaves no plan, opens recomputation
// (space/rematerialization) for a second look, unless the request opens
// switches of its own. Where it still does, equal segments may recompute in
// groups (rematerialization/groups.h) for a third, in the few configurations
// that may pay (worth_grouping.h). In → Out: a request, its measured step, and
// how the step of a wider request is had → the plan. Errors: those of PlanOf
// and of `measure`.
#ifndef MESHWRIGHT_COORDINATOR_PLANNING_MEMORY_PRESSURE_H_
#define MESHWRIGHT_COORDINATOR_PLANNING_MEMORY_PRESSURE_H_

#include <functional>

#include "absl/status/statusor.h"
#include "coordinator/planning/measured_step.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::planning {

using MeasureFunction =
    std::function<absl::StatusOr<MeasuredStep>(const v1::PlanRequest&)>;

// Who opens any switch says which ones; nothing is opened beside.
bool OpensSwitches(const v1::PlanRequest& request);

v1::PlanRequest OpeningRecompute(const v1::PlanRequest& request);

void AddSeconds(const v1::PlanSeconds& more, v1::PlanSeconds& sum);

// To a second look what the first one took: what that measured, this knows.
void AddEffort(const v1::PlanPrograms& first_programs,
               const v1::PlanSeconds& first_seconds, v1::PlanPrograms& programs,
               v1::PlanSeconds& seconds);

absl::StatusOr<v1::Plan> PlanWithin(const v1::PlanRequest& request,
                                    const MeasuredStep& step,
                                    const MeasureFunction& measure);

}  // namespace meshwright::planning

#endif  // MESHWRIGHT_COORDINATOR_PLANNING_MEMORY_PRESSURE_H_
