// Turns the updates of a plan into events for one who waits for it.
//
// Concept: MakePlan is submit and watch, at the service and in its client; both
// read updates by this rule.
// Threads: pure functions. Errors: `end` is the status that the plan ended
// with.
#ifndef MESHWRIGHT_COORDINATOR_PLANS_PLAN_EVENTS_H_
#define MESHWRIGHT_COORDINATOR_PLANS_PLAN_EVENTS_H_

#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "proto/v1/plans.pb.h"
#include "proto/v1/services.pb.h"

namespace meshwright::plans {

struct PlanEvents {
  std::vector<v1::PlanEvent> events;
  std::optional<absl::Status> end;  // set by the last update
};

PlanEvents TranslateUpdate(v1::PlanUpdate update);

}  // namespace meshwright::plans

#endif  // MESHWRIGHT_COORDINATOR_PLANS_PLAN_EVENTS_H_
