// absl::Status to grpc::Status and back. Codes stay, and messages up to 4 KiB.
// The content of a payload becomes the details of the grpc::Status: the address
// of the coordinator to ask instead. A payload without content is a mark within
// the process, and goes.
// Errors: none of its own.
#ifndef MESHWRIGHT_BASE_RPC_RPC_STATUS_H_
#define MESHWRIGHT_BASE_RPC_RPC_STATUS_H_

#include "absl/status/status.h"

namespace grpc {
class Status;
}  // namespace grpc

namespace meshwright::base {

grpc::Status ToRpc(const absl::Status& status);
absl::Status FromRpc(const grpc::Status& status);

// call->Finish with the status, for templates that do not know gRPC's class.
template <typename Call>
void FinishCall(Call* call, const absl::Status& status) {
  const auto translate = [](const auto& it) { return ToRpc(it); };
  call->Finish(translate(status));
}

// gRPC's own lines go where ours go, and only when someone debugs.
void SilenceGrpc();

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_RPC_RPC_STATUS_H_
