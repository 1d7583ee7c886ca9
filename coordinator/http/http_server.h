// HttpServer: answers GET and HEAD of readers that are trusted little.
//
// Concept: HTTP/1.1, plain or with TLS. One function makes all answers, one
// after the other, so however many read, they cost one processor at the most.
// A slow reader holds its connection, and nobody else.
//
//   accept ─▶ handshake ─▶ request ─▶ answer ─┬─▶ closed
//                             ▲───────────────┘ where connections are kept
//
// Each arrow but the answer is bounded by Options::patience. A connection
// beyond Options::max_connections is closed at once. A request with a head of
// more than kMaxHeadBytes, with a body, of another method, or that is no HTTP
// is refused with 431, 413, 405 or 400, and its connection ends.
//   Not prometheus-cpp's own server: its stop waits for up to two seconds, and
// so would each restart of a coordinator.
// Threads and ownership: one thread of its own, on which `answer` is called.
// Errors: Start gives kInvalidArgument for an address that is no HOST:PORT and
// for a certificate that is none, kAlreadyExists for a busy port,
// kPermissionDenied; one sentence each.
#ifndef MESHWRIGHT_COORDINATOR_HTTP_HTTP_SERVER_H_
#define MESHWRIGHT_COORDINATOR_HTTP_HTTP_SERVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/security/listening.h"

namespace meshwright::http {

inline constexpr uint32_t kMaxHeadBytes = 8192;

// As it came: nothing is decoded.
struct Request {
  std::string path;   // before any '?'
  std::string query;  // behind it
  std::string host;
  std::string authorization;
  std::string if_none_match;
  std::string certificate;  // the client's common name; empty: none
  std::string peer;
};

struct Response {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;  // further ones
};

class HttpServer {
 public:
  using Answer = std::function<Response(const Request&)>;

  struct Options {
    // HOST:PORT or [IPV6]:PORT; port 0 takes a free one.
    std::string address;
    // Of this, the certificate, its key, the clients' CA and how often changed
    // files are looked for. Without a certificate: plain.
    security::Listening security;
    int max_connections = 32;
    // Of a handshake, of a request to arrive, of an answer to be taken.
    absl::Duration patience = absl::Seconds(10);
    bool keeps_connections = false;
  };

  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(
      const Options& options, Answer answer);
  // Closes what is open.
  ~HttpServer();

  // Where it listens, with the port that was chosen.
  const std::string& address() const { return address_; }

 private:
  struct Server;

  HttpServer();

  std::string address_;
  std::unique_ptr<Server> server_;
};

}  // namespace meshwright::http

#endif  // MESHWRIGHT_COORDINATOR_HTTP_HTTP_SERVER_H_
