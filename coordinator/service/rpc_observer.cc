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

// The call as it came, with the address that it came from.
class RpcRecorder : public rpc::Interceptor {
 public:
  RpcRecorder(const AdmittedFunction* admitted, rpc::ServerRpcInfo* info)
      : admitted_(*admitted), info_(info) {}

  void Intercept(rpc::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(
            rpc::InterceptionHookPoints::POST_RECV_INITIAL_METADATA)) {
      admitted_(*info_->server_context(), info_->method());
    }
    methods->Proceed();
  }

 private:
  const AdmittedFunction& admitted_;
  rpc::ServerRpcInfo* const info_;
};

class RpcRecorders : public rpc::ServerInterceptorFactoryInterface {
 public:
  explicit RpcRecorders(AdmittedFunction admitted)
      : admitted_(std::move(admitted)) {}
  rpc::Interceptor* CreateServerInterceptor(rpc::ServerRpcInfo* info) override {
    return new RpcRecorder(&admitted_, info);
  }

 private:
  const AdmittedFunction admitted_;
};

}  // namespace

void InterceptRpcs(RpcObserver* observer, AdmittedFunction admitted,
                   grpc::ServerBuilder* builder) {
  std::vector<std::unique_ptr<rpc::ServerInterceptorFactoryInterface>> all;
  if (observer != nullptr) all.push_back(std::make_unique<RpcTimers>(observer));
  if (admitted) {
    all.push_back(std::make_unique<RpcRecorders>(std::move(admitted)));
  }
  builder->experimental().SetInterceptorCreators(std::move(all));
}

}  // namespace meshwright::service
