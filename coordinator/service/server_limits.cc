#include "coordinator/service/server_limits.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>

#include <mutex>

#include "absl/strings/str_cat.h"
#include "base/rpc/channel.h"
#include "proto/v1/admin.grpc.pb.h"
#include "proto/v1/plans.grpc.pb.h"
#include "proto/v1/profiles.grpc.pb.h"
#include "proto/v1/services.grpc.pb.h"

namespace meshwright::service {
namespace {

// Both are of the whole process, and of the servers that are built later.
void AddOwnServices() {
  static std::once_flag once;
  std::call_once(once, [] {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  });
}

}  // namespace

absl::Status CheckAnswerBytes(size_t bytes) {
  if (bytes <= kMaximumAnswerBytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "the answer has ", bytes, " bytes, and a message at most ",
      kMaximumAnswerBytes,
      "; ask for less at once: a smaller page, fewer keys, or the models of a "
      "plan with \"meshwright plans modules\""));
}

void PrepareServer(const ServerLimits& limits, grpc::ServerBuilder* builder) {
  AddOwnServices();
  builder->SetMaxReceiveMessageSize(limits.message_bytes);
  // A batch of programs goes out as one message.
  builder->SetMaxSendMessageSize(-1);
  grpc::ResourceQuota quota("coordinator");
  quota.Resize(limits.buffer_bytes);
  builder->SetResourceQuota(quota);
  builder->AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS,
                              limits.calls_per_connection);
  builder->AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS,
                              base::WholeMilliseconds(limits.idle));
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS,
                              base::WholeMilliseconds(limits.keepalive));
  builder->AddChannelArgument(
      GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
      base::WholeMilliseconds(limits.keepalive_timeout));
  builder->AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
                              base::WholeMilliseconds(limits.handshake));
  // Workers ping through quiet hours.
  builder->AddChannelArgument(
      GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 5000);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
}

void SetServing(bool serving, grpc::Server* server) {
  for (const char* service :
       {"", v1::Planning::service_full_name(), v1::Plans::service_full_name(),
        v1::Profiles::service_full_name(), v1::Modules::service_full_name(),
        v1::Workers::service_full_name(), v1::Admin::service_full_name()}) {
    server->GetHealthCheckService()->SetServingStatus(service, serving);
  }
}

}  // namespace meshwright::service
