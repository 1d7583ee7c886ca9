#include "coordinator/daemon/coordinator.h"

#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/service_type.h>

#include <atomic>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/log/log.h"
#include "base/mutex.h"
#include "base/status_macros.h"
#include "base/thread_pool.h"
#include "coordinator/jobs/queue_measurer.h"
#include "coordinator/resharding/answer_cache.h"
#include "coordinator/service/listen_address.h"
#include "coordinator/service/rpc_status.h"
#include "coordinator/service/services.h"

namespace meshwright::daemon {
namespace {

// Of plans, comparisons and reshardings; more wait for one to end.
constexpr int kMaxCalls = 64;

// Runs the queue's Tick once a second until it is destroyed.
class Ticker {
 public:
  explicit Ticker(jobs::JobQueue* queue)
      : thread_([this, queue] { Run(queue); }) {}
  ~Ticker() {
    base::MutexLock lock(&mutex_);
    stopped_ = true;
  }

 private:
  void Run(jobs::JobQueue* queue) {
    while (true) {
      {
        base::MutexLock lock(&mutex_);
        if (mutex_.AwaitWithTimeout(absl::Condition(&stopped_),
                                    absl::Seconds(1))) {
          return;
        }
      }
      queue->Tick();
    }
  }

  base::Mutex mutex_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::jthread thread_;  // last: joined before the rest is destroyed
};

}  // namespace

struct Coordinator::Server {
  explicit Server(Dependencies given)
      : dependencies(std::move(given)),
        queue(dependencies.clock, dependencies.queue),
        reshardings(dependencies.reshardings) {}

  Dependencies dependencies;
  std::string address;
  std::atomic<bool> draining = false;
  jobs::JobQueue queue;
  resharding::AnswerCache reshardings;
  base::ThreadPool calls{kMaxCalls};
  std::unique_ptr<grpc::Service> planning;
  std::unique_ptr<grpc::Service> workers;
  std::unique_ptr<grpc::Server> grpc_server;
  std::unique_ptr<Ticker> ticker;
};

Coordinator::Coordinator(Dependencies dependencies)
    : server_(std::make_unique<Server>(std::move(dependencies))) {}

Coordinator::~Coordinator() { Stop(); }

absl::Status Coordinator::Start() {
  service::QuietGrpc();
  const std::string& wanted = server_->dependencies.listen_address;
  RETURN_IF_ERROR(service::CheckListenAddress(wanted));
  server_->planning = service::NewPlanningService(
      {&server_->queue, &server_->calls, &server_->dependencies.plan,
       &server_->draining, &server_->reshardings});
  server_->workers = service::NewWorkersService(&server_->queue);

  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(wanted, grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(server_->planning.get());
  builder.RegisterService(server_->workers.get());
  builder.SetMaxReceiveMessageSize(-1);
  builder.SetMaxSendMessageSize(-1);
  // Two coordinators on one port would each get half of the calls.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  // Workers ping through quiet hours.
  builder.AddChannelArgument(
      GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 5000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  server_->grpc_server = builder.BuildAndStart();
  if (server_->grpc_server == nullptr) {
    return absl::AlreadyExistsError(
        absl::StrCat("cannot listen on ", wanted, "; choose another address"));
  }
  server_->address =
      absl::StartsWith(wanted, "unix:")
          ? wanted
          : absl::StrCat(wanted.substr(0, wanted.rfind(':')), ":", port);
  server_->ticker = std::make_unique<Ticker>(&server_->queue);
  base::LogInfo("coordinator: listening on ", server_->address);
  return absl::OkStatus();
}

bool Coordinator::Drain(absl::Duration timeout) {
  server_->draining = true;
  return server_->calls.AwaitIdle(timeout);
}

void Coordinator::Stop() {
  server_->draining = true;
  server_->queue.Shutdown();
  if (server_->grpc_server != nullptr) {
    // Calls still open are cancelled at once. Only after Wait can none follow.
    server_->grpc_server->Shutdown(std::chrono::system_clock::now());
    server_->grpc_server->Wait();
    server_->calls.Join();
    server_->grpc_server.reset();
    base::LogInfo("coordinator: stopped");
  }
  server_->ticker.reset();
}

const std::string& Coordinator::address() const { return server_->address; }

jobs::JobQueue& Coordinator::queue() { return server_->queue; }

std::unique_ptr<jobs::Measurer> Coordinator::NewMeasurer(std::stop_token stop) {
  return std::make_unique<jobs::QueueMeasurer>(&server_->queue,
                                               std::move(stop));
}

}  // namespace meshwright::daemon
