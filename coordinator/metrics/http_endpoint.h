// HttpEndpoint: answers GET /metrics with a text that is made for each reading.
//
// Concept: HTTP/1.1 for readers that are trusted little. A connection that does
// not ask or does not read is closed after kPatience, and one beyond
// kMaxConnections at once. Each answer ends its connection.
//   Not prometheus-cpp's own server: its stop waits for up to two seconds, and
// so would each restart of a coordinator.
// Threads and ownership: one thread of its own, on which `make_text` is called.
// Errors: Start gives kInvalidArgument for an address that is no HOST:PORT,
// kAlreadyExists for a busy port, kPermissionDenied; one sentence each.
#ifndef MESHWRIGHT_COORDINATOR_METRICS_HTTP_ENDPOINT_H_
#define MESHWRIGHT_COORDINATOR_METRICS_HTTP_ENDPOINT_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace meshwright::metrics {

class HttpEndpoint {
 public:
  using MakeText = std::function<std::string()>;
  static constexpr int kMaxConnections = 32;
  static constexpr absl::Duration kPatience = absl::Seconds(10);

  // `address` is HOST:PORT or [IPV6]:PORT; port 0 takes a free one.
  static absl::StatusOr<std::unique_ptr<HttpEndpoint>> Start(
      const std::string& address, MakeText make_text);
  // Closes what is open.
  ~HttpEndpoint();

  // Where it listens, with the port that was chosen.
  const std::string& address() const { return address_; }

 private:
  struct Server;

  HttpEndpoint();

  std::string address_;
  std::unique_ptr<Server> server_;
};

}  // namespace meshwright::metrics

#endif  // MESHWRIGHT_COORDINATOR_METRICS_HTTP_ENDPOINT_H_
