// TlsContext: the certificate that a server shows now.
//
// Concept: a renewed certificate is taken up by the next connection, as gRPC
// does it. The files are looked at no more often than
// Listening::reload_seconds. Files that are wrong, or cannot be read, leave
// the certificate of before in force, with a line in the log. They are tried
// again until they are right.
// Threads: one. Errors: kInvalidArgument, with OpenSSL's reason, where the
// first certificate, its key or the clients' CA cannot be used.
#ifndef MESHWRIGHT_COORDINATOR_HTTP_TLS_CONTEXT_H_
#define MESHWRIGHT_COORDINATOR_HTTP_TLS_CONTEXT_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/security/listening.h"

namespace boost::asio::ssl {
class context;
}  // namespace boost::asio::ssl

namespace meshwright::http {

class TlsContext {
 public:
  using Context = std::shared_ptr<boost::asio::ssl::context>;

  static absl::StatusOr<std::unique_ptr<TlsContext>> Load(
      const security::Listening& listening);

  // For one more connection, which keeps it.
  Context Current();

 private:
  explicit TlsContext(const security::Listening& listening)
      : listening_(listening) {}
  absl::Status Reload();
  std::string DescribeFiles() const;

  const security::Listening listening_;
  Context current_;
  std::string files_;  // as they were when they were read last
  absl::Status read_;  // the last time, after the first certificate
  absl::Time looked_;  // of base::SteadyClock
};

}  // namespace meshwright::http

#endif  // MESHWRIGHT_COORDINATOR_HTTP_TLS_CONTEXT_H_
