#include "coordinator/service/server_credentials.h"

#include <grpcpp/grpcpp.h>
#include <grpcpp/security/auth_metadata_processor.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <utility>

#include "base/rpc/local_address.h"
#include "base/rpc/rpc_status.h"
#include "base/status_macros.h"
#include "base/trace_context.h"

namespace meshwright::service {
namespace {

using Metadata = grpc::AuthMetadataProcessor::InputMetadata;

std::string FindMetadata(const Metadata& metadata, const char* key) {
  const auto found = metadata.find(key);
  if (found == metadata.end()) return "";
  return {found->second.data(), found->second.size()};
}

std::string FindProperty(const grpc::AuthContext& context, const char* name) {
  const auto values = context.FindPropertyValues(name);
  if (values.empty()) return "";
  return {values[0].data(), values[0].size()};
}

// The context belongs to the connection, whose calls may come with different
// tokens: nothing of one call is kept there.
class GuardHook : public grpc::AuthMetadataProcessor {
 public:
  GuardHook(const security::Guard* guard, RpcObserver* observer)
      : guard_(guard), observer_(observer) {}

  bool IsBlocking() const override { return false; }
  grpc::Status Process(const InputMetadata& metadata,
                       grpc::AuthContext* context, OutputMetadata*,
                       OutputMetadata*) override {
    const absl::Status status =
        guard_->Admit({FindMetadata(metadata, ":path"),
                       FindMetadata(metadata, "authorization"),
                       FindProperty(*context, GRPC_X509_CN_PROPERTY_NAME), ""});
    if (!status.ok() && observer_ != nullptr) {
      observer_->RefuseRpc(status.code());
    }
    return base::ToRpc(status);
  }

 private:
  const security::Guard* const guard_;
  RpcObserver* const observer_;
};

std::shared_ptr<grpc::ServerCredentials> MakeTlsCredentials(
    const security::Listening& listening) {
  namespace rpc = grpc::experimental;
  const bool mutual = !listening.client_ca_file.empty();
  rpc::TlsServerCredentialsOptions options(
      std::make_shared<rpc::FileWatcherCertificateProvider>(
          listening.key_file, listening.certificate_file,
          listening.client_ca_file, listening.reload_seconds));
  options.watch_identity_key_cert_pairs();
  if (mutual) {
    options.watch_root_certs();
    options.set_cert_request_type(
        GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  }
  return rpc::TlsServerCredentials(options);
}

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeServerCredentials(
    const std::string& address, const security::Listening& listening,
    const security::Guard* guard, RpcObserver* observer) {
  RETURN_IF_ERROR(security::CheckListening(address, listening));
  std::shared_ptr<grpc::ServerCredentials> credentials;
  if (listening.uses_tls()) {
    credentials = MakeTlsCredentials(listening);
  } else if (base::IsLocalAddress(address)) {
    credentials = grpc::experimental::LocalServerCredentials(
        base::IsUnixAddress(address) ? UDS : LOCAL_TCP);
  } else {
    return grpc::InsecureServerCredentials();
  }
  credentials->SetAuthMetadataProcessor(
      std::make_shared<GuardHook>(guard, observer));
  return credentials;
}

security::Call DescribeCall(const grpc::ServerContextBase& context,
                            const std::string& path) {
  return {
      path, FindMetadata(context.client_metadata(), "authorization"),
      context.auth_context() == nullptr
          ? ""
          : FindProperty(*context.auth_context(), GRPC_X509_CN_PROPERTY_NAME),
      context.peer()};
}

std::string FindTraceparent(const grpc::CallbackServerContext& context) {
  return base::ParseTraceparent(
             FindMetadata(context.client_metadata(), "traceparent"))
      .value_or("");
}

}  // namespace meshwright::service
