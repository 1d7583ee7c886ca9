#include "base/rpc/health_port.h"

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/rpc/local_address.h"

namespace meshwright::base {
namespace {

constexpr char kLiveness[] = "liveness";

}  // namespace

struct HealthPort::Server {
  // A server needs one service beside its own; this one knows no call.
  grpc::CallbackGenericService nothing;
  std::unique_ptr<grpc::Server> server;

  void Set(const std::string& service, bool serving) const {
    server->GetHealthCheckService()->SetServingStatus(service, serving);
  }
};

absl::StatusOr<std::unique_ptr<HealthPort>> HealthPort::Start(
    const std::string& address, const Options& options) {
  const std::string complete = CompleteAddress(address);
  const size_t colon = complete.rfind(':');
  if (colon == std::string::npos) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", address, "\" is no address to listen on; write HOST:PORT"));
  }
  // Of the whole process, and of the servers that are built later.
  grpc::EnableDefaultHealthCheckService(true);
  auto own = std::make_unique<Server>();
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(complete, grpc::InsecureServerCredentials(), &port);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.SetMaxReceiveMessageSize(4096);
  builder.RegisterCallbackGenericService(&own->nothing);
  own->server = builder.BuildAndStart();
  if (own->server == nullptr || port == 0) {
    return absl::AlreadyExistsError(absl::StrCat("cannot listen on ", complete,
                                                 "; choose another address "
                                                 "for --health"));
  }
  auto health = std::unique_ptr<HealthPort>(new HealthPort(
      std::move(own), absl::StrCat(complete.substr(0, colon), ":", port)));
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
  // Watches of health are cancelled at once.
  server_->server->Shutdown(std::chrono::system_clock::now());
  server_->server->Wait();
}

void HealthPort::SetReady(bool ready) { server_->Set("", ready); }

}  // namespace meshwright::base
