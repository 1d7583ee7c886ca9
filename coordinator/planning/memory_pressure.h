// MemoryPressure: recomputation where a memory limit costs time.
//
// Concept: a limit that costs time, or leaves no plan, opens recomputation
// (space/rematerialization), unless the request opens switches of its own.
// Where it still does, equal segments may recompute in groups, in the few
// configurations that may pay (recompute_candidates.h).
//
//   request ──short?──▶ + recompute ──short?──▶ + groups
//
// In → Out: a request, its measured step and its plan → the wider request to
// measure and search next, if any.
#ifndef MESHWRIGHT_COORDINATOR_PLANNING_MEMORY_PRESSURE_H_
#define MESHWRIGHT_COORDINATOR_PLANNING_MEMORY_PRESSURE_H_

#include <optional>

#include "absl/status/statusor.h"
#include "coordinator/planning/measured_step.h"
#include "planner/search/search.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::planning {

// A request that opens any switch gets no others.
bool OpensSwitches(const v1::PlanRequest& request);

v1::PlanRequest OpenRecompute(const v1::PlanRequest& request);

void AddSeconds(const v1::PlanSeconds& more, v1::PlanSeconds& sum);

// Adds the work of a first look to that of a second one, which finds what the
// first one measured in the store.
void AddWork(const v1::PlanPrograms& first_programs,
             const v1::PlanSeconds& first_seconds, v1::PlanPrograms& programs,
             v1::PlanSeconds& seconds);

// Nothing where memory is not short, nothing more can be opened, or the search
// does not know. Errors: those of search::TrySolve.
absl::StatusOr<std::optional<v1::PlanRequest>> WidenForMemory(
    const v1::PlanRequest& request, const MeasuredStep& step,
    const v1::Plan& plan, const search::Options& options = {});

// The better of a plan and that of the wider request; the work of both.
v1::Plan SelectPlan(const v1::PlanRequest& wider, v1::Plan plan,
                    v1::Plan wider_plan);

}  // namespace meshwright::planning

#endif  // MESHWRIGHT_COORDINATOR_PLANNING_MEMORY_PRESSURE_H_
