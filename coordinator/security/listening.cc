#include "coordinator/security/listening.h"

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/rpc/channel_security.h"
#include "base/rpc/local_address.h"
#include "base/status_macros.h"

namespace meshwright::security {
namespace {

absl::Status CheckPem(const std::string& path, const char* what) {
  ASSIGN_OR_RETURN(const std::string content, base::ReadFile(path));
  if (content.find("-----BEGIN ") != std::string::npos &&
      content.find(what) != std::string::npos) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(path, " holds no ", what, " in PEM"));
}

}  // namespace

absl::Status CheckListening(const std::string& address,
                            const Listening& listening) {
  if (listening.certificate_file.empty() != listening.key_file.empty()) {
    return absl::InvalidArgumentError(
        "a certificate needs its key; give --tls-cert and --tls-key together");
  }
  if (!listening.client_ca_file.empty() && !listening.uses_tls()) {
    return absl::InvalidArgumentError(
        "clients' certificates need TLS; give --tls-cert and --tls-key too");
  }
  if (listening.uses_tls()) {
    RETURN_IF_ERROR(CheckPem(listening.certificate_file, "CERTIFICATE"));
    RETURN_IF_ERROR(base::CheckPrivate(listening.key_file));
    RETURN_IF_ERROR(CheckPem(listening.key_file, "PRIVATE KEY"));
    if (!listening.client_ca_file.empty()) {
      RETURN_IF_ERROR(CheckPem(listening.client_ca_file, "CERTIFICATE"));
    }
    return absl::OkStatus();
  }
  if (base::IsLocalAddress(address)) return absl::OkStatus();
  if (!listening.insecure) {
    return absl::InvalidArgumentError(absl::StrCat(
        address,
        " can be reached from beyond this machine; give --tls-cert and "
        "--tls-key, listen on 127.0.0.1 or a unix socket, or give --insecure "
        "to let everyone there do everything"));
  }
  if (!listening.token_file.empty()) {
    return absl::InvalidArgumentError(
        "tokens that go in the clear can be read and used by others; give "
        "--tls-cert and --tls-key instead of --insecure");
  }
  return absl::OkStatus();
}

std::string WarnOfListening(const std::string& address,
                            const Listening& listening) {
  if (!listening.uses_tls() || !listening.token_file.empty() ||
      base::IsLocalAddress(address)) {
    return "";
  }
  return absl::StrCat(
      "whoever reaches ", address,
      listening.client_ca_file.empty() ? "" : " with a certificate of its CA",
      " may do everything, as there are no tokens; give --tokens");
}

}  // namespace meshwright::security
