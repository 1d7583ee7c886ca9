// Reshardings as messages (proto/v1/resharding.proto), both ways.
//
// Errors: kInvalidArgument in the words of planner/reshard/request.h;
// kInternal for an answer that does not belong to its request.
#ifndef MESHWRIGHT_COORDINATOR_RESHARDING_MESSAGES_H_
#define MESHWRIGHT_COORDINATOR_RESHARDING_MESSAGES_H_

#include "absl/status/statusor.h"
#include "planner/reshard/request.h"
#include "planner/reshard/solve.h"
#include "proto/v1/resharding.pb.h"

namespace meshwright::resharding {

// An empty list of tasks is none.
absl::StatusOr<reshard::Written> FromMessage(
    const v1::ReshardingRequest& message);
// The problem alone: no solver, seed or deadline.
v1::ReshardingRequest ToMessage(const reshard::Written& written);

v1::ReshardingAnswer ToMessage(const reshard::Request& request,
                               const reshard::Answer& answer);
// Timed here, by Replay; what was claimed must be what it takes.
absl::StatusOr<reshard::Answer> FromMessage(
    const reshard::Request& request, const v1::ReshardingAnswer& message);

}  // namespace meshwright::resharding

#endif  // MESHWRIGHT_COORDINATOR_RESHARDING_MESSAGES_H_
