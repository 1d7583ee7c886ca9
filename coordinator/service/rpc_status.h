// absl::Status to grpc::Status and back: the only place where the two meet on
// the coordinator's side. Codes and messages stay.
// Errors: none of its own.
#ifndef MESHWRIGHT_COORDINATOR_SERVICE_RPC_STATUS_H_
#define MESHWRIGHT_COORDINATOR_SERVICE_RPC_STATUS_H_

#include "absl/status/status.h"

namespace grpc {
class Status;
}  // namespace grpc

namespace meshwright::service {

grpc::Status ToRpc(const absl::Status& status);
absl::Status FromRpc(const grpc::Status& status);

// gRPC's own lines go where ours go, and only when someone debugs.
void SilenceGrpc();

}  // namespace meshwright::service

#endif  // MESHWRIGHT_COORDINATOR_SERVICE_RPC_STATUS_H_
