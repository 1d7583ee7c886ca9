// Calls: the order in which a launch runs its modules, micro-batch by
// micro-batch.
#ifndef MESHWRIGHT_COORDINATOR_LAUNCH_CALLS_H_
#define MESHWRIGHT_COORDINATOR_LAUNCH_CALLS_H_

#include "absl/status/status.h"
#include "coordinator/launch/launch.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::launch {

// Fills inputs, calls and results of a launch that has its modules, in the
// order of the plan's pipeline. Errors: kInvalidArgument for an order that is
// none of these stages.
absl::Status FindCalls(const v1::Plan& plan, Launch& launch);

}  // namespace meshwright::launch

#endif  // MESHWRIGHT_COORDINATOR_LAUNCH_CALLS_H_
