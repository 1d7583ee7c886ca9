#include "base/rpc/rpc_status.h"

#include <grpc/support/log.h>
#include <grpcpp/support/status.h>

#include <mutex>

#include "base/log/log.h"

namespace meshwright::base {

// The codes of both libraries carry the same numbers.
grpc::Status ToRpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()),
                      std::string(status.message()));
}

absl::Status FromRpc(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                      status.error_message());
}

void SilenceGrpc() {
  static std::once_flag once;
  std::call_once(once, [] {
    gpr_set_log_function(
        [](gpr_log_func_args* args) { LogDebug("grpc: ", args->message); });
  });
}

}  // namespace meshwright::base
