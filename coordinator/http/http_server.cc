#include "coordinator/http/http_server.h"

#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <chrono>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/rpc/listening_sockets.h"
#include "base/status_macros.h"
#include "coordinator/http/tls_context.h"

namespace meshwright::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace wire = beast::http;
using tcp = asio::ip::tcp;
using Plain = beast::tcp_stream;
using Tls = beast::ssl_stream<beast::tcp_stream>;

constexpr std::chrono::milliseconds kRestAfterFailure(100);
// What a refused client still sends is read and dropped for so long, so that
// it hears why it is refused.
constexpr std::chrono::seconds kLinger(2);

// What all connections share.
struct Shared {
  const HttpServer::Options options;
  const HttpServer::Answer answer;
  int open = 0;  // connections; they count on the one thread
};

// One that comes by IPv4 has its IPv4 address, also at a socket of both.
std::string NameHost(const asio::ip::address& host) {
  if (!host.is_v6() || !host.to_v6().is_v4_mapped()) return host.to_string();
  return asio::ip::make_address_v4(asio::ip::v4_mapped, host.to_v6())
      .to_string();
}

std::string ReadCommonName(SSL* session) {
  X509* const certificate = SSL_get1_peer_certificate(session);
  if (certificate == nullptr) return "";
  char name[256] = "";
  const int length = X509_NAME_get_text_by_NID(
      X509_get_subject_name(certificate), NID_commonName, name, sizeof(name));
  X509_free(certificate);
  return length > 0 ? std::string(name, static_cast<size_t>(length)) : "";
}

Response MakeRefusal(wire::status status, const char* why) {
  return {.status = static_cast<int>(status), .body = why};
}

// Why bytes are no request that is answered; nothing: the reader is gone.
std::optional<Response> ExplainBytes(beast::error_code error) {
  if (error == wire::error::header_limit ||
      error == wire::error::buffer_overflow) {
    return MakeRefusal(wire::status::request_header_fields_too_large,
                       "The head of this request is too long.\n");
  }
  if (error == wire::error::unexpected_body ||
      error == wire::error::body_limit) {
    return MakeRefusal(wire::status::payload_too_large,
                       "A request here has no body.\n");
  }
  const bool is_protocol =
      error.category() ==
      wire::make_error_code(wire::error::bad_method).category();
  if (is_protocol && error != wire::error::end_of_stream &&
      error != wire::error::partial_message) {
    return MakeRefusal(wire::status::bad_request, "This is no HTTP request.\n");
  }
  return std::nullopt;
}

// A connection owns itself through what it waits for.
template <typename Stream>
class Connection : public std::enable_shared_from_this<Connection<Stream>> {
 public:
  template <typename... Arguments>
  Connection(Shared* shared, TlsContext::Context context,
             Arguments&&... arguments)
      : context_(std::move(context)),
        stream_(std::forward<Arguments>(arguments)...),
        shared_(shared) {
    ++shared_->open;
    beast::error_code unknown;
    const tcp::endpoint peer = Lowest().socket().remote_endpoint(unknown);
    if (!unknown) {
      peer_ = absl::StrCat(NameHost(peer.address()), ":", peer.port());
    }
  }
  ~Connection() { --shared_->open; }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void Begin() {
    if constexpr (std::is_same_v<Stream, Tls>) {
      Wait();
      stream_.async_handshake(
          asio::ssl::stream_base::server,
          [self = this->shared_from_this()](beast::error_code error) {
            if (error) return;
            self->certificate_ = ReadCommonName(self->stream_.native_handle());
            self->Read();
          });
    } else {
      Read();
    }
  }

 private:
  beast::tcp_stream& Lowest() { return beast::get_lowest_layer(stream_); }
  void Wait() {
    Lowest().expires_after(
        absl::ToChronoMilliseconds(shared_->options.patience));
  }

  void Read() {
    parser_.emplace();
    parser_->header_limit(kMaxHeadBytes);
    Wait();
    wire::async_read(
        stream_, buffer_, *parser_,
        [self = this->shared_from_this()](beast::error_code error, size_t) {
          if (!error) {
            self->Answer();
          } else if (std::optional<Response> refusal = ExplainBytes(error)) {
            self->Write(*std::move(refusal), /*is_head=*/false,
                        /*keeps=*/false);
          }
        });
  }

  void Answer() {
    const auto& request = parser_->get();
    const bool is_head = request.method() == wire::verb::head;
    if (request.method() != wire::verb::get && !is_head) {
      Response refusal = MakeRefusal(wire::status::method_not_allowed,
                                     "Only GET is of use here.\n");
      refusal.headers.emplace_back("Allow", "GET, HEAD");
      Write(std::move(refusal), false, false);
      return;
    }
    const auto find = [&request](wire::field field) {
      const beast::string_view value = request[field];
      return std::string(value.data(), value.size());
    };
    const std::string target(request.target().data(), request.target().size());
    const size_t mark = std::min(target.find('?'), target.size());
    Request asked;
    asked.path = target.substr(0, mark);
    if (mark < target.size()) asked.query = target.substr(mark + 1);
    asked.host = find(wire::field::host);
    asked.authorization = find(wire::field::authorization);
    asked.if_none_match = find(wire::field::if_none_match);
    asked.certificate = certificate_;
    asked.peer = peer_;
    Write(shared_->answer(asked), is_head,
          shared_->options.keeps_connections && request.keep_alive());
  }

  void Write(Response response, bool is_head, bool keeps) {
    answer_ = {};
    answer_.version(11);
    answer_.result(static_cast<unsigned>(response.status));
    answer_.set(wire::field::content_type, response.content_type);
    answer_.set("X-Content-Type-Options", "nosniff");
    for (const auto& [name, value] : response.headers) answer_.set(name, value);
    answer_.body() = std::move(response.body);
    answer_.keep_alive(keeps);
    answer_.prepare_payload();
    if (is_head) answer_.body().clear();
    Wait();
    wire::async_write(stream_, answer_,
                      [self = this->shared_from_this(), keeps](
                          beast::error_code error, size_t) {
                        if (error) return;
                        if (keeps) {
                          self->Read();
                        } else {
                          self->Close();
                        }
                      });
  }

  void Close() {
    Lowest().expires_after(kLinger);
    if constexpr (std::is_same_v<Stream, Tls>) {
      stream_.async_shutdown(
          [self = this->shared_from_this()](beast::error_code) {});
    } else {
      beast::error_code ignored;
      stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
      Drop();
    }
  }

  // Until the client closes, too, or kLinger is over.
  void Drop() {
    stream_.async_read_some(
        asio::buffer(dropped_),
        [self = this->shared_from_this()](beast::error_code error, size_t) {
          if (!error) self->Drop();
        });
  }

  const TlsContext::Context context_;  // null: plain; outlives the stream
  Stream stream_;
  Shared* const shared_;
  std::string peer_;
  std::string certificate_;
  beast::flat_buffer buffer_{kMaxHeadBytes};
  std::optional<wire::request_parser<wire::empty_body>> parser_;
  wire::response<wire::string_body> answer_;
  char dropped_[4096];
};

}  // namespace

struct HttpServer::Server {
  struct Door {
    tcp::acceptor acceptor;
    asio::steady_timer rest;
  };

  Server(Options given, Answer answer)
      : shared{std::move(given), std::move(answer)} {}
  ~Server() { io.stop(); }

  // Takes the socket over.
  beast::error_code AddDoor(int listening) {
    sockaddr at = {};
    socklen_t size = sizeof(at);
    getsockname(listening, &at, &size);
    doors.push_back(std::make_unique<Door>(
        Door{tcp::acceptor(io), asio::steady_timer(io)}));
    beast::error_code error;
    doors.back()->acceptor.assign(
        at.sa_family == AF_INET6 ? tcp::v6() : tcp::v4(), listening, error);
    if (error) {
      close(listening);
    } else {
      Accept(*doors.back());
    }
    return error;
  }

  void Accept(Door& door) {
    door.acceptor.async_accept(
        [this, &door](beast::error_code error, tcp::socket socket) {
          if (error == asio::error::operation_aborted) return;
          if (error) {  // too many files are open, say
            door.rest.expires_after(kRestAfterFailure);
            door.rest.async_wait(
                [this, &door](beast::error_code) { Accept(door); });
            return;
          }
          if (shared.open < shared.options.max_connections) {
            Serve(std::move(socket));
          }
          Accept(door);
        });
  }

  void Serve(tcp::socket socket) {
    if (tls == nullptr) {
      std::make_shared<Connection<Plain>>(&shared, nullptr, std::move(socket))
          ->Begin();
      return;
    }
    const TlsContext::Context context = tls->Current();
    std::make_shared<Connection<Tls>>(&shared, context, std::move(socket),
                                      *context)
        ->Begin();
  }

  Shared shared;
  std::unique_ptr<TlsContext> tls;  // null: plain
  asio::io_context io;              // after `shared`: connections end with it
  std::vector<std::unique_ptr<Door>> doors;
  std::jthread thread;  // last: joined before the rest is destroyed
};

HttpServer::HttpServer() = default;

HttpServer::~HttpServer() = default;

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(
    const Options& options, Answer answer) {
  const std::string& address = options.address;
  if (absl::StartsWith(address, "unix:")) {
    return absl::InvalidArgumentError(
        absl::StrCat("HTTP is not read from ", address, "; give HOST:PORT"));
  }
  ASSIGN_OR_RETURN(auto sockets, base::ListeningSockets::Open(address));
  std::unique_ptr<HttpServer> made(new HttpServer);
  made->server_ = std::make_unique<Server>(options, std::move(answer));
  Server& server = *made->server_;
  if (options.security.uses_tls()) {
    ASSIGN_OR_RETURN(server.tls, TlsContext::Load(options.security));
  }
  made->address_ = sockets.address();
  beast::error_code error;
  for (const int listening : sockets.Release()) {
    const beast::error_code refused = server.AddDoor(listening);
    if (refused) error = refused;
  }
  if (error) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot listen on ", address, ": ", error.message()));
  }
  server.thread = std::jthread([&server] { server.io.run(); });
  return made;
}

}  // namespace meshwright::http
