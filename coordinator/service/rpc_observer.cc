#include "coordinator/service/rpc_observer.h"

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/server_interceptor.h>

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "base/clock.h"

namespace meshwright::service {
namespace {

namespace rpc = grpc::experimental;

// Lives as long as its call.
class RpcTimer : public rpc::Interceptor {
 public:
  RpcTimer(RpcObserver* observer, Rpc call)
      : observer_(observer),
        call_(std::move(call)),
        began_(base::SteadyClock().Now()) {
    observer_->BeginRpc(call_);
  }
  ~RpcTimer() override {
    observer_->EndRpc(call_, code_, base::SteadyClock().Now() - began_);
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
  const absl::Time began_;
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
