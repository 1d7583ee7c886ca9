#include "base/rpc/health_port.h"

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include <chrono>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/rpc/acceptor.h"
#include "base/rpc/channel.h"
#include "base/rpc/listening_sockets.h"
#include "base/rpc/local_address.h"
#include "base/status_macros.h"

namespace meshwright::base {
namespace {

constexpr char kLiveness[] = "liveness";
// Of connections of whoever reaches the port.
constexpr absl::Duration kIdle = absl::Minutes(5);
constexpr absl::Duration kSilence = absl::Seconds(20);

}  // namespace

struct HealthPort::Server {
  // A server needs one service beside its own; this one knows no call.
  grpc::CallbackGenericService nothing;
  std::unique_ptr<grpc::Server> server;
  std::unique_ptr<Acceptor> acceptor;

  void Set(const std::string& service, bool serving) const {
    server->GetHealthCheckService()->SetServingStatus(service, serving);
  }
};

absl::StatusOr<std::unique_ptr<HealthPort>> HealthPort::Start(
    const std::string& address, const Options& options) {
  const std::string complete = CompleteAddress(address);
  absl::StatusOr<ListeningSockets> sockets = ListeningSockets::Open(complete);
  if (!sockets.ok()) {
    return absl::Status(sockets.status().code(),
                        absl::StrCat("--health: ", sockets.status().message()));
  }
  std::string at = sockets->address();
  // Of the whole process, and of the servers that are built later.
  grpc::EnableDefaultHealthCheckService(true);
  auto own = std::make_unique<Server>();
  grpc::ServerBuilder builder;
  std::vector<Acceptor::Door> doors;
  doors.emplace_back(*std::move(sockets), grpc::InsecureServerCredentials(),
                     &builder);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS,
                             WholeMilliseconds(kIdle));
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
                             WholeMilliseconds(kSilence));
  builder.SetMaxReceiveMessageSize(4096);
  builder.RegisterCallbackGenericService(&own->nothing);
  own->server = builder.BuildAndStart();
  if (own->server == nullptr) {
    return absl::InternalError("gRPC starts no server for --health");
  }
  ASSIGN_OR_RETURN(own->acceptor, Acceptor::Start(std::move(doors), kSilence));
  auto health = std::unique_ptr<HealthPort>(
      new HealthPort(std::move(own), std::move(at)));
  health->SetReady(false);
  health->server_->Set(kLiveness, true);
  health->looks_ =
      std::jthread([health = health.get(), options] { health->Look(options); });
  return health;
}

void HealthPort::Look(const Options& options) {
  int64_t seen = -1;
  int silent = 0;
  while (true) {
    {
      MutexLock lock(&mutex_);
      if (mutex_.AwaitWithTimeout(absl::Condition(&stopped_), options.look)) {
        return;
      }
    }
    const int64_t calls = calls_.load(std::memory_order_relaxed);
    silent = calls == seen ? silent + 1 : 0;
    seen = calls;
    server_->Set(kLiveness, silent < options.patience_looks);
  }
}

HealthPort::HealthPort(std::unique_ptr<Server> server, std::string address)
    : server_(std::move(server)), address_(std::move(address)) {}

HealthPort::~HealthPort() {
  {
    MutexLock lock(&mutex_);
    stopped_ = true;
  }
  looks_.join();
  server_->acceptor.reset();
  // Watches of health are cancelled at once.
  server_->server->Shutdown(std::chrono::system_clock::now());
  server_->server->Wait();
}

void HealthPort::SetReady(bool ready) { server_->Set("", ready); }

}  // namespace meshwright::base
