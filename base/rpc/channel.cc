#include "base/rpc/channel.h"

#include <grpcpp/grpcpp.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <grpcpp/support/client_interceptor.h>

#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/rpc/local_address.h"
#include "base/status_macros.h"
#include "base/trace_context.h"

namespace meshwright::base {
namespace {

namespace rpc = grpc::experimental;

class MetadataInterceptor : public rpc::Interceptor {
 public:
  MetadataInterceptor(const ChannelSecurity& security,
                      const std::string& traceparent)
      : security_(security), traceparent_(traceparent) {}

  void Intercept(rpc::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(
            rpc::InterceptionHookPoints::PRE_SEND_INITIAL_METADATA)) {
      // Without one, the coordinator says what is missing.
      const std::string token = ReadToken(security_).value_or("");
      if (!token.empty()) {
        methods->GetSendInitialMetadata()->insert(
            {"authorization", absl::StrCat("Bearer ", token)});
      }
      if (!traceparent_.empty()) {
        methods->GetSendInitialMetadata()->insert(
            {"traceparent", traceparent_});
      }
    }
    methods->Proceed();
  }

 private:
  const ChannelSecurity& security_;
  const std::string& traceparent_;
};

// Lives as long as its channel, so longer than the calls.
class MetadataFactory : public rpc::ClientInterceptorFactoryInterface {
 public:
  MetadataFactory(ChannelSecurity security, std::string traceparent)
      : security_(std::move(security)), traceparent_(std::move(traceparent)) {}
  rpc::Interceptor* CreateClientInterceptor(rpc::ClientRpcInfo*) override {
    return new MetadataInterceptor(security_, traceparent_);
  }

 private:
  const ChannelSecurity security_;
  const std::string traceparent_;
};

// Of the launcher that runs this process.
std::string EnvironmentTraceparent() {
  const char* const text = std::getenv("TRACEPARENT");
  return ParseTraceparent(text == nullptr ? "" : text).value_or("");
}

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> MakeCredentials(
    const ChannelSecurity& security) {
  if (!security.uses_tls()) return grpc::InsecureChannelCredentials();
  RETURN_IF_ERROR(ReadFile(security.ca_file).status());
  const bool mutual = !security.certificate_file.empty();
  if (mutual) {
    RETURN_IF_ERROR(ReadFile(security.certificate_file).status());
    RETURN_IF_ERROR(CheckPrivate(security.key_file));
  }
  rpc::TlsChannelCredentialsOptions options;
  options.set_certificate_provider(
      std::make_shared<rpc::FileWatcherCertificateProvider>(
          security.key_file, security.certificate_file, security.ca_file,
          security.reload_seconds));
  options.watch_root_certs();
  if (mutual) options.watch_identity_key_cert_pairs();
  return rpc::TlsCredentials(options);
}

absl::Status Check(const std::string& address,
                   const ChannelSecurity& security) {
  if (security.certificate_file.empty() != security.key_file.empty()) {
    return absl::InvalidArgumentError(
        "a certificate needs its key; give --cert and --key together");
  }
  if (!security.certificate_file.empty() && !security.uses_tls()) {
    return absl::InvalidArgumentError(
        "a certificate is of use with TLS only; give --ca too");
  }
  if (!security.uses_tls() && !security.insecure && !IsLocalAddress(address)) {
    return absl::InvalidArgumentError(absl::StrCat(
        address,
        " is beyond this machine and no --ca is given; give --ca FILE for TLS, "
        "or --insecure to send everything in the clear"));
  }
  return ReadToken(security).status();
}

grpc::ChannelArguments MakeArguments(const ChannelTiming& timing) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  if (timing.first_backoff > absl::ZeroDuration()) {
    arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS,
                     WholeMilliseconds(timing.first_backoff));
    arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 1000);
    arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS,
                     WholeMilliseconds(timing.longest_backoff));
  }
  if (timing.keepalive > absl::ZeroDuration()) {
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS,
                     WholeMilliseconds(timing.keepalive));
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
                     WholeMilliseconds(timing.keepalive));
    arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  }
  return arguments;
}

}  // namespace

int WholeMilliseconds(absl::Duration duration) {
  return static_cast<int>(absl::ToInt64Milliseconds(duration));
}

absl::StatusOr<std::shared_ptr<grpc::Channel>> OpenChannel(
    const std::string& address, const ChannelSecurity& security,
    const ChannelTiming& timing) {
  RETURN_IF_ERROR(Check(address, security));
  ASSIGN_OR_RETURN(const auto credentials, MakeCredentials(security));
  std::vector<std::unique_ptr<rpc::ClientInterceptorFactoryInterface>>
      factories;
  factories.push_back(
      std::make_unique<MetadataFactory>(security, EnvironmentTraceparent()));
  return rpc::CreateCustomChannelWithInterceptors(
      address, credentials, MakeArguments(timing), std::move(factories));
}

}  // namespace meshwright::base
