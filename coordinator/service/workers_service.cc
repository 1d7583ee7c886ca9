#include <grpcpp/grpcpp.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/fingerprint.h"
#include "base/log/log.h"
#include "base/log/log_context.h"
#include "base/rpc/idle_limit.h"
#include "base/rpc/rpc_status.h"
#include "base/status_macros.h"
#include "coordinator/service/outbox.h"
#include "coordinator/service/server_credentials.h"
#include "coordinator/service/services.h"
#include "coordinator/service/worker_protocol.h"
#include "profiledb/store/text.h"
#include "proto/v1/services.grpc.pb.h"

namespace meshwright::service {
namespace {

// One attached worker. gRPC calls OnReadDone one at a time; the queue calls
// the port from any thread. It holds itself until gRPC is done with it; the
// limit, which may end it later, holds it weakly.
class WorkerStream
    : public grpc::ServerBidiReactor<v1::WorkerMessage, v1::CoordinatorMessage>,
      public jobs::WorkerPort {
 public:
  static WorkerStream* Begin(jobs::JobQueue* queue,
                             const security::Guard* guard,
                             const plans::Leadership* leadership,
                             security::Call call, absl::Duration patience) {
    auto stream = std::make_shared<WorkerStream>(queue, guard, leadership,
                                                 std::move(call));
    stream->self_ = stream;
    stream->AwaitHello(patience);
    stream->StartRead(&stream->message_);
    return stream.get();
  }

  WorkerStream(jobs::JobQueue* queue, const security::Guard* guard,
               const plans::Leadership* leadership, security::Call call)
      : queue_(queue),
        guard_(guard),
        leadership_(leadership),
        call_(std::move(call)),
        outbox_(this) {}

  // ---- jobs::WorkerPort
  void Greet(const jobs::Welcome& welcome) override {
    v1::CoordinatorMessage message;
    v1::Welcome& said = *message.mutable_welcome();
    said.set_epoch(welcome.epoch);
    said.set_lease_seconds(absl::ToDoubleSeconds(welcome.lease_time));
    for (const jobs::LeaseId lease : welcome.resumed) {
      said.add_resumed(jobs::FormatLeaseId(lease));
    }
    said.mutable_protocols()->set_oldest(base::kOldestWorkerProtocol);
    said.mutable_protocols()->set_newest(base::kWorkerProtocol);
    said.set_software_version(base::Version());
    outbox_.Send(std::move(message));
  }
  void Push(jobs::LeaseId lease, const v1::RunnerRequest& request) override {
    v1::CoordinatorMessage message;
    message.mutable_batch()->set_job_id(jobs::FormatLeaseId(lease));
    *message.mutable_batch()->mutable_request() = request;
    const base::LogContext& about = base::LogScope::Current();
    message.mutable_batch()->set_plan(about.plan);
    message.mutable_batch()->set_traceparent(about.traceparent);
    outbox_.Send(std::move(message));
  }
  void Cancel(jobs::LeaseId lease) override {
    v1::CoordinatorMessage message;
    message.mutable_cancel()->set_job_id(jobs::FormatLeaseId(lease));
    outbox_.Send(std::move(message));
  }
  void Acknowledge(jobs::LeaseId lease) override {
    v1::CoordinatorMessage message;
    message.mutable_acknowledge()->set_job_id(jobs::FormatLeaseId(lease));
    outbox_.Send(std::move(message));
  }
  void Tell(jobs::LeaseId lease, const v1::GangMessage& said) override {
    v1::CoordinatorMessage message;
    message.mutable_gang()->set_job_id(jobs::FormatLeaseId(lease));
    *message.mutable_gang()->mutable_message() = said;
    outbox_.Send(std::move(message));
  }
  void Close(const absl::Status& reason) override { Finish(reason); }

  // ---- grpc::ServerBidiReactor
  void OnReadDone(bool ok) override {
    hello_.reset();  // it came; the queue knows a worker that falls silent
    if (!ok) {
      Leave("the connection ended");
      outbox_.Finish(grpc::Status::OK);
      return;
    }
    const absl::Status status = Take();
    if (!status.ok()) {
      Leave(std::string(status.message()));
      Finish(status);
      return;
    }
    StartRead(&message_);
  }
  void OnWriteDone(bool ok) override { outbox_.OnWriteDone(ok); }
  void OnDone() override {
    Leave("the connection ended");
    self_.reset();
  }

 private:
  void AwaitHello(absl::Duration patience) {
    hello_ =
        std::make_unique<base::IdleLimit>(patience, self_, [this, patience] {
          Finish(absl::DeadlineExceededError(absl::StrCat(
              "the worker did not say who it is for ",
              absl::FormatDuration(patience), "; attach it again")));
        });
    hello_->Await();
  }

  // A worker that must go elsewhere is redirected.
  void Finish(const absl::Status& status) {
    const grpc::Status rpc = base::ToRpc(status);
    const bool leads = leadership_ == nullptr || leadership_->Leads();
    outbox_.Finish({rpc.error_code(), rpc.error_message(),
                    leads ? "" : leadership_->leader()});
  }

  void Leave(const std::string& reason) {
    if (worker_.has_value()) queue_->Detach(*worker_, reason);
    worker_.reset();
  }

  absl::Status Take() {
    if (!worker_.has_value()) {
      if (!message_.has_hello()) {
        return absl::InvalidArgumentError("a worker's first message is Hello");
      }
      return Attach(message_.hello());
    }
    // Whatever it says: one without heartbeats must not outlive its token.
    RETURN_IF_ERROR(guard_->MayGoOn(call_));
    switch (message_.message_case()) {
      case v1::WorkerMessage::kUpdate: {
        ASSIGN_OR_RETURN(const jobs::LeaseId lease,
                         jobs::ParseLeaseId(message_.update().job_id()));
        queue_->Update(*worker_, lease, message_.update().event());
        break;
      }
      case v1::WorkerMessage::kHeartbeat: {
        queue_->Heartbeat(*worker_);
        RETURN_IF_ERROR(plans::CheckTakesWorkers(leadership_));
        // One that does not read is not written more and more to.
        if (!outbox_.IsIdle()) break;
        v1::CoordinatorMessage answer;
        answer.mutable_heartbeat();
        outbox_.Send(std::move(answer));
        break;
      }
      case v1::WorkerMessage::kHealth:
        queue_->SetFault(*worker_, message_.health().fault());
        break;
      case v1::WorkerMessage::kLeave:
        queue_->Leave(*worker_);
        break;
      case v1::WorkerMessage::kDrain:
        queue_->Drain(*worker_);
        break;
      case v1::WorkerMessage::kHello:
        return absl::InvalidArgumentError("a worker says Hello once");
      case v1::WorkerMessage::MESSAGE_NOT_SET:
        break;  // of a newer version
    }
    return absl::OkStatus();
  }

  absl::Status Attach(const v1::WorkerHello& hello) {
    RETURN_IF_ERROR(plans::CheckTakesWorkers(leadership_));
    if (hello.worker_id().empty() || hello.platform().empty() ||
        hello.device_count() < 1) {
      return absl::InvalidArgumentError(
          "a worker names itself, its platform and its devices");
    }
    for (const std::string* name : {&hello.worker_id(), &hello.host(),
                                    &hello.platform(), &hello.device_kind()}) {
      if (name->size() > store::kMaximumTextBytes || !store::IsOneLine(*name)) {
        return absl::InvalidArgumentError(absl::StrCat(
            "a worker's names are texts of one line and at most ",
            store::kMaximumTextBytes, " bytes; give it another with --name"));
      }
    }
    const absl::Status understood = CheckProtocol(hello);
    if (!understood.ok()) {
      base::LogWarning(understood.message());
      return understood;
    }
    jobs::WorkerDescription description;
    description.name = hello.worker_id();
    description.host = hello.host();
    description.fault = hello.fault();
    description.is_draining = hello.is_draining();
    description.plugin_path = hello.plugin_path();
    description.joins_gangs = hello.joins_gangs();
    for (const v1::DeviceLinks& it : hello.links()) {
      description.links.places.insert(it.place());
      description.links.devices.insert(it.devices().begin(),
                                       it.devices().end());
      description.links.switches.insert(it.switches().begin(),
                                        it.switches().end());
    }
    description.devices.platform = hello.platform();
    description.devices.platform_version = hello.platform_version();
    description.devices.device_kind = hello.device_kind();
    description.devices.device_count = hello.device_count();
    description.devices.fingerprint = hello.fingerprint();
    description.devices.memory_bytes = hello.memory_bytes();
    description.session = absl::StrCat("session:", hello.host(), "/",
                                       base::Sha256Hex(hello.session_secret()));
    // A token may be of a whole cluster; without one, the worker's own secret.
    ASSIGN_OR_RETURN(const security::Caller caller, guard_->Identify(call_));
    description.owner = caller.id.empty() ? description.session : caller.id;
    std::vector<jobs::HeldLease> held;
    for (const v1::HeldLease& lease : hello.held()) {
      ASSIGN_OR_RETURN(const jobs::LeaseId id,
                       jobs::ParseLeaseId(lease.job_id()));
      held.push_back(
          {id, {lease.keys().begin(), lease.keys().end()}, lease.is_over()});
    }
    const auto attached = queue_->Attach(description, this, held);
    guard_->Record(call_, caller.id, attached.status(), description.name);
    RETURN_IF_ERROR(attached.status());
    worker_ = *attached;
    base::LogInfo("worker ", hello.worker_id(), ": Meshwright ",
                  hello.software_version().empty() ? "of unknown version"
                                                   : hello.software_version());
    return absl::OkStatus();
  }

  jobs::JobQueue* const queue_;
  const security::Guard* const guard_;
  const plans::Leadership* const leadership_;
  const security::Call call_;
  v1::WorkerMessage message_;
  std::optional<jobs::WorkerId> worker_;
  std::shared_ptr<WorkerStream> self_;
  std::unique_ptr<base::IdleLimit> hello_;
  Outbox<grpc::ServerBidiReactor<v1::WorkerMessage, v1::CoordinatorMessage>,
         v1::CoordinatorMessage, grpc::Status>
      outbox_;
};

class WorkersService : public v1::Workers::CallbackService {
 public:
  WorkersService(jobs::JobQueue* queue, const security::Guard* guard,
                 const plans::Leadership* leadership, absl::Duration patience)
      : queue_(queue),
        guard_(guard),
        leadership_(leadership),
        patience_(patience) {}

  grpc::ServerBidiReactor<v1::WorkerMessage, v1::CoordinatorMessage>* Attach(
      grpc::CallbackServerContext* context) override {
    base::LogDebug("a worker connects from ", context->peer());
    return WorkerStream::Begin(
        queue_, guard_, leadership_,
        DescribeCall(*context, "/meshwright.v1.Workers/Attach"), patience_);
  }

 private:
  jobs::JobQueue* const queue_;
  const security::Guard* const guard_;
  const plans::Leadership* const leadership_;
  const absl::Duration patience_;
};

}  // namespace

std::unique_ptr<grpc::Service> NewWorkersService(
    jobs::JobQueue* queue, const security::Guard* guard,
    const plans::Leadership* leadership, absl::Duration patience) {
  return std::make_unique<WorkersService>(queue, guard, leadership, patience);
}

}  // namespace meshwright::service
