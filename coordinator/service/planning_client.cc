#include "coordinator/service/planning_client.h"

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/service/rpc_status.h"
#include "proto/v1/services.grpc.pb.h"

namespace meshwright::service {
namespace {

class GrpcPlanningClient : public PlanningClient {
 public:
  GrpcPlanningClient(std::string address,
                     const std::shared_ptr<grpc::Channel>& channel)
      : address_(std::move(address)), stub_(v1::Planning::NewStub(channel)) {}

  absl::StatusOr<v1::Plan> MakePlan(const v1::PlanRequest& request,
                                    const OnProgress& on_progress,
                                    const std::stop_token& stop) override {
    grpc::ClientContext context;
    const std::stop_callback cancel(stop, [&] { context.TryCancel(); });
    auto reader = stub_->MakePlan(&context, request);
    std::optional<v1::Plan> plan;
    v1::PlanEvent event;
    while (reader->Read(&event)) {
      if (event.has_plan()) plan = std::move(*event.mutable_plan());
      if (event.has_progress() && on_progress) on_progress(event.progress());
    }
    const absl::Status status = Translate(reader->Finish());
    if (!status.ok()) return status;
    if (!plan.has_value()) {
      return absl::InternalError(
          absl::StrCat("the coordinator at ", address_, " sent no plan"));
    }
    return *std::move(plan);
  }

  absl::Status Compare(const v1::CompareRequest& request,
                       const OnCompare& on_event,
                       const std::stop_token& stop) override {
    grpc::ClientContext context;
    const std::stop_callback cancel(stop, [&] { context.TryCancel(); });
    auto reader = stub_->Compare(&context, request);
    v1::CompareEvent event;
    while (reader->Read(&event)) {
      if (on_event) on_event(event);
    }
    return Translate(reader->Finish());
  }

  absl::StatusOr<v1::ListJobsResponse> ListJobs() override {
    grpc::ClientContext context;
    SetDeadline(context);
    v1::ListJobsResponse response;
    const absl::Status status =
        Translate(stub_->ListJobs(&context, {}, &response));
    if (!status.ok()) return status;
    return response;
  }

  absl::StatusOr<v1::ListWorkersResponse> ListWorkers() override {
    grpc::ClientContext context;
    SetDeadline(context);
    v1::ListWorkersResponse response;
    const absl::Status status =
        Translate(stub_->ListWorkers(&context, {}, &response));
    if (!status.ok()) return status;
    return response;
  }

 private:
  static void SetDeadline(grpc::ClientContext& context) {
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::seconds(10));
  }

  // A connection that broke says so in gRPC's words; ours name the address.
  absl::Status Translate(const grpc::Status& status) const {
    if (status.error_code() == grpc::StatusCode::UNAVAILABLE &&
        (status.error_message().find("ocket closed") != std::string::npos ||
         status.error_message().find("connect") != std::string::npos)) {
      return absl::UnavailableError(absl::StrCat(
          "the connection to the coordinator at ", address_, " broke"));
    }
    return FromRpc(status);
  }

  const std::string address_;
  const std::unique_ptr<v1::Planning::Stub> stub_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<PlanningClient>> PlanningClient::Connect(
    const std::string& address, absl::Duration timeout) {
  QuietGrpc();
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  const std::shared_ptr<grpc::Channel> channel = grpc::CreateCustomChannel(
      address, grpc::InsecureChannelCredentials(), arguments);
  if (!channel->WaitForConnected(std::chrono::system_clock::now() +
                                 absl::ToChronoMilliseconds(timeout))) {
    return absl::UnavailableError(absl::StrCat(
        "no coordinator answers at ", address,
        "; start one with \"meshwright up\" or check the address"));
  }
  return std::make_unique<GrpcPlanningClient>(address, channel);
}

}  // namespace meshwright::service
