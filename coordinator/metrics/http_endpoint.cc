#include "coordinator/metrics/http_endpoint.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "coordinator/service/listen_address.h"

namespace meshwright::metrics {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;

constexpr uint32_t kMaxHeadBytes = 8192;
constexpr std::chrono::milliseconds kRestAfterFailure(100);

// One request and its answer. It owns itself through what it waits for.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(tcp::socket socket, const HttpEndpoint::MakeText* make_text,
                 int* open)
      : stream_(std::move(socket)), make_text_(make_text), open_(open) {
    ++*open_;
    parser_.header_limit(kMaxHeadBytes);
  }
  ~HttpConnection() { --*open_; }
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  void Begin() {
    stream_.expires_after(absl::ToChronoSeconds(HttpEndpoint::kPatience));
    http::async_read(
        stream_, buffer_, parser_,
        [self = shared_from_this()](beast::error_code error, size_t /*bytes*/) {
          if (!error) self->Answer();
        });
  }

 private:
  void Answer() {
    const auto& request = parser_.get();
    answer_.version(request.version());
    answer_.keep_alive(false);
    answer_.set(http::field::content_type, "text/plain; charset=utf-8");
    const bool is_head = request.method() == http::verb::head;
    if (request.method() != http::verb::get && !is_head) {
      answer_.result(http::status::method_not_allowed);
      answer_.set(http::field::allow, "GET, HEAD");
      answer_.body() = "Only GET is of use here.\n";
    } else if (request.target() != "/metrics") {
      answer_.result(http::status::not_found);
      answer_.body() = "The metrics are at /metrics.\n";
    } else {
      answer_.set(http::field::content_type,
                  "text/plain; version=0.0.4; charset=utf-8");
      answer_.body() = (*make_text_)();
    }
    answer_.prepare_payload();
    if (is_head) answer_.body().clear();
    stream_.expires_after(absl::ToChronoSeconds(HttpEndpoint::kPatience));
    http::async_write(
        stream_, answer_,
        [self = shared_from_this()](beast::error_code, size_t /*bytes*/) {
          beast::error_code ignored;
          self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
        });
  }

  beast::tcp_stream stream_;
  const HttpEndpoint::MakeText* const make_text_;
  int* const open_;
  beast::flat_buffer buffer_{kMaxHeadBytes};
  http::request_parser<http::empty_body> parser_;
  http::response<http::string_body> answer_;
};

}  // namespace

struct HttpEndpoint::Server {
  explicit Server(MakeText make) : make_text(std::move(make)) {}
  ~Server() { io.stop(); }

  // Binds; what cannot fail after service::CheckListenAddress, unless another
  // process is quicker.
  beast::error_code Listen(const std::string& host, const std::string& port) {
    beast::error_code error;
    tcp::resolver resolver(io);
    const auto found =
        resolver.resolve(host, port, tcp::resolver::passive, error);
    if (error) return error;
    for (const auto& entry : found) {
      acceptor = tcp::acceptor(io);
      const tcp::endpoint at = entry.endpoint();
      acceptor.open(at.protocol(), error);
      if (!error)
        acceptor.set_option(tcp::acceptor::reuse_address(true), error);
      if (!error) acceptor.bind(at, error);
      if (!error)
        acceptor.listen(asio::socket_base::max_listen_connections, error);
      if (!error) break;
    }
    return error;
  }

  void Accept() {
    acceptor.async_accept([this](beast::error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (error) {  // too many files are open, say
        rest.expires_after(kRestAfterFailure);
        rest.async_wait([this](beast::error_code) { Accept(); });
        return;
      }
      if (open < kMaxConnections) {
        std::make_shared<HttpConnection>(std::move(socket), &make_text, &open)
            ->Begin();
      }
      Accept();
    });
  }

  const MakeText make_text;
  int open = 0;         // of the connections; they count on the one thread
  asio::io_context io;  // after `open`: connections end with it
  tcp::acceptor acceptor{io};
  asio::steady_timer rest{io};
  std::jthread thread;  // last: joined before the rest is destroyed
};

HttpEndpoint::HttpEndpoint() = default;

HttpEndpoint::~HttpEndpoint() = default;

absl::StatusOr<std::unique_ptr<HttpEndpoint>> HttpEndpoint::Start(
    const std::string& address, MakeText make_text) {
  if (absl::StartsWith(address, "unix:")) {
    return absl::InvalidArgumentError(absl::StrCat(
        "Prometheus does not read from ", address, "; give HOST:PORT"));
  }
  RETURN_IF_ERROR(service::CheckListenAddress(address));
  const size_t colon = address.rfind(':');
  const std::string named = address.substr(0, colon);
  const std::string host =
      named.front() == '[' ? named.substr(1, named.size() - 2) : named;
  std::unique_ptr<HttpEndpoint> endpoint(new HttpEndpoint);
  endpoint->server_ = std::make_unique<Server>(std::move(make_text));
  Server& server = *endpoint->server_;
  beast::error_code error = server.Listen(host, address.substr(colon + 1));
  const tcp::endpoint at =
      error ? tcp::endpoint() : server.acceptor.local_endpoint(error);
  if (error) {
    return absl::AlreadyExistsError(
        absl::StrCat("cannot listen on ", address, ": ", error.message()));
  }
  endpoint->address_ = absl::StrCat(named, ":", at.port());
  server.Accept();
  server.thread = std::jthread([&server] { server.io.run(); });
  return endpoint;
}

}  // namespace meshwright::metrics
