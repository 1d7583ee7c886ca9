// The call Plan of the service Resharding, and PlanResharding of Planning.
//
// Concept: the search holds a place of those for computations. It may take
// until the call's deadline, less what the answer needs to get back, and ten
// minutes at the most; see resharding.proto. Ownership: the call owns
// itself.
#ifndef MESHWRIGHT_COORDINATOR_SERVICE_RESHARDING_CALL_H_
#define MESHWRIGHT_COORDINATOR_SERVICE_RESHARDING_CALL_H_

#include <chrono>
#include <optional>

#include "absl/status/statusor.h"
#include "coordinator/service/service_context.h"
#include "planner/reshard/solve.h"
#include "proto/v1/resharding.pb.h"

namespace grpc {
class CallbackServerContext;
class ServerUnaryReactor;
}  // namespace grpc

namespace meshwright::service {

// `left`: until the call's deadline, absent without one.
// Errors: kInvalidArgument for a solver or deadline that is none.
absl::StatusOr<reshard::Options> ReadReshardingOptions(
    const v1::ReshardingRequest& request,
    std::optional<std::chrono::duration<double>> left);

// kUnavailable while the coordinator drains; errors also: those of
// ReadReshardingOptions and TakeSlot.
grpc::ServerUnaryReactor* StartResharding(const ServiceContext& service,
                                          const security::Call& call,
                                          grpc::CallbackServerContext* context,
                                          const v1::ReshardingRequest* request,
                                          v1::ReshardingAnswer* answer);

}  // namespace meshwright::service

#endif  // MESHWRIGHT_COORDINATOR_SERVICE_RESHARDING_CALL_H_
