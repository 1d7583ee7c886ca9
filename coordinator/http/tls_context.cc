#include "coordinator/http/tls_context.h"

#include <sys/stat.h>

#include <boost/asio/ssl/context.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/log/log.h"
#include "base/status_macros.h"

namespace meshwright::http {
namespace {

namespace ssl = boost::asio::ssl;
using Error = boost::system::error_code;

absl::Status ExplainFile(const std::string& path, const Error& error) {
  return absl::InvalidArgumentError(absl::StrCat(
      "cannot use ", path, " for TLS: ", error.message(),
      "; give a certificate and the key that belongs to it, in PEM"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<TlsContext>> TlsContext::Load(
    const security::Listening& listening) {
  std::unique_ptr<TlsContext> made(new TlsContext(listening));
  made->files_ = made->DescribeFiles();
  made->looked_ = base::SteadyClock().Now();
  RETURN_IF_ERROR(made->Reload());
  return made;
}

TlsContext::Context TlsContext::Current() {
  const absl::Time now = base::SteadyClock().Now();
  if (now - looked_ < absl::Seconds(listening_.reload_seconds)) return current_;
  looked_ = now;
  std::string files = DescribeFiles();
  const bool is_same = files == files_;
  if (is_same && read_.ok()) return current_;
  files_ = std::move(files);
  const absl::Status before = std::exchange(read_, Reload());
  const bool was_said = is_same && read_ == before;
  if (!read_.ok() && !was_said) {
    base::LogWarning("http: the certificate of before stays in force: ",
                     read_.message());
  }
  return current_;
}

absl::Status TlsContext::Reload() {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  Error error;
  context->set_options(ssl::context::default_workarounds |
                           ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1,
                       error);
  // A key with a password is refused; OpenSSL would ask at the terminal.
  context->set_password_callback(
      [](size_t, ssl::context::password_purpose) { return std::string(); },
      error);
  context->use_certificate_chain_file(listening_.certificate_file, error);
  if (error) return ExplainFile(listening_.certificate_file, error);
  context->use_private_key_file(listening_.key_file, ssl::context::pem, error);
  if (error) return ExplainFile(listening_.key_file, error);
  if (!listening_.client_ca_file.empty()) {
    // Without it OpenSSL fails the handshake of a client that resumes.
    constexpr unsigned char kSessions[] = "meshwright";
    SSL_CTX_set_session_id_context(context->native_handle(), kSessions,
                                   sizeof(kSessions) - 1);
    context->load_verify_file(listening_.client_ca_file, error);
    if (error) return ExplainFile(listening_.client_ca_file, error);
    context->set_verify_mode(
        ssl::verify_peer | ssl::verify_fail_if_no_peer_cert, error);
  }
  current_ = std::move(context);
  return absl::OkStatus();
}

std::string TlsContext::DescribeFiles() const {
  std::string described;
  for (const std::string& path :
       {listening_.certificate_file, listening_.key_file,
        listening_.client_ca_file}) {
    struct stat info = {};  // all zero: there is no file
    stat(path.c_str(), &info);
    absl::StrAppend(&described, info.st_ino, " ", info.st_size, " ",
                    absl::ToUnixNanos(absl::TimeFromTimespec(info.st_ctim)),
                    "\n");
  }
  return described;
}

}  // namespace meshwright::http
