// Answers as messages (proto/v1/resharding.proto), both ways.
//
// Threads: pure.
#ifndef MESHWRIGHT_COORDINATOR_RESHARDING_ANSWER_MESSAGE_H_
#define MESHWRIGHT_COORDINATOR_RESHARDING_ANSWER_MESSAGE_H_

#include "absl/status/statusor.h"
#include "coordinator/resharding/request.h"
#include "planner/reshard/solve.h"
#include "proto/v1/resharding.pb.h"

namespace meshwright::resharding {

v1::ReshardingAnswer AnswerToMessage(const Request& request,
                                     const reshard::Answer& answer);

// Timed here, by Replay; the makespan claimed must be that time.
// Errors: kInternal for an answer that does not belong to the request.
absl::StatusOr<reshard::Answer> AnswerFromMessage(
    const Request& request, const v1::ReshardingAnswer& message);

}  // namespace meshwright::resharding

#endif  // MESHWRIGHT_COORDINATOR_RESHARDING_ANSWER_MESSAGE_H_
