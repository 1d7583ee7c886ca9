#include "coordinator/service/rpc_observer.h"

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/server_interceptor.h>

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace meshwright::service {
namespace {

namespace rpc = grpc::experimental;
using SteadyClock = std::chrono::steady_clock;  // a clock may be stepped back

// Lives as long as its call.
class RpcTimer : public rpc::Interceptor {
 public:
  RpcTimer(RpcObserver* observer, Rpc call)
      : observer_(observer),
        call_(std::move(call)),
        began_(SteadyClock::now()) {
    observer_->BeginRpc(call_);
  }
  ~RpcTimer() override {
    observer_->EndRpc(call_, code_,
                      absl::FromChrono(SteadyClock::now() - began_));
  }

  void Intercept(rpc::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(
            rpc::InterceptionHookPoints::PRE_SEND_STATUS)) {
      code_ =
          static_cast<absl::StatusCode>(methods->GetSendStatus().error_code());
    }
    methods->Proceed();
  }

 private:
  RpcObserver* const observer_;
  const Rpc call_;
  const SteadyClock::time_point began_;
  absl::StatusCode code_ = absl::StatusCode::kCancelled;
};

class RpcTimers : public rpc::ServerInterceptorFactoryInterface {
 public:
  explicit RpcTimers(RpcObserver* observer) : observer_(observer) {}
  rpc::Interceptor* CreateServerInterceptor(rpc::ServerRpcInfo* info) override {
    const absl::string_view path = info->method();
    return new RpcTimer(observer_,
                        {std::string(absl::StripPrefix(path, "/")),
                         info->type() != rpc::ServerRpcInfo::Type::UNARY});
  }

 private:
  RpcObserver* const observer_;
};

}  // namespace

void ObserveRpcs(RpcObserver* observer, grpc::ServerBuilder* builder) {
  std::vector<std::unique_ptr<rpc::ServerInterceptorFactoryInterface>> timers;
  timers.push_back(std::make_unique<RpcTimers>(observer));
  builder->experimental().SetInterceptorCreators(std::move(timers));
}

}  // namespace meshwright::service
