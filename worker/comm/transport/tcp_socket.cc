#include "worker/comm/transport/tcp_socket.h"

#include <array>
#include <boost/asio.hpp>
#include <cstdint>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace meshwright::worker::comm {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

absl::Status ToStatus(const error_code& error) {
  if (!error) return {};
  if (error == asio::error::operation_aborted) {
    return absl::CancelledError(error.message());
  }
  if (error == asio::error::connection_aborted) {
    return absl::AbortedError(error.message());
  }
  return absl::UnavailableError(
      error == asio::error::eof ? "it closed its connection" : error.message());
}

// Of one of several addresses: two SYNs go out in it.
constexpr std::chrono::seconds kPatience(2);

struct HostPort {
  std::string host;
  std::string port;
};

HostPort Split(const std::string& address) {
  const size_t colon = address.rfind(':');
  std::string host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);  // [::1]:7000
  }
  return {std::move(host), address.substr(colon + 1)};
}

}  // namespace

std::string ChooseListenAddress(const std::string& name,
                                const std::string& resolved) {
  const bool own_name = name != resolved && resolved.starts_with("127.") &&
                        resolved != "127.0.0.1";
  return own_name ? "0.0.0.0" : resolved;
}

// ---- listening ----

struct TcpListener::Port {
  asio::io_context context{1};
  tcp::acceptor acceptor{context};
};

struct TcpSocket::State {
  explicit State(asio::io_context& context) : context(context) {}

  // A connection to the first of several endpoints that answers.
  struct Attempt {
    std::vector<tcp::endpoint> endpoints;  // at least one
    std::chrono::steady_clock::duration patience;
    Done done;
    asio::steady_timer timer;
    size_t at = 0;  // the one that is tried; all of them: it is over
  };
  void Begin(std::vector<tcp::endpoint> endpoints,
             std::chrono::steady_clock::duration patience, Done done) {
    Try(std::make_shared<Attempt>(Attempt{.endpoints = std::move(endpoints),
                                          .patience = patience,
                                          .done = std::move(done),
                                          .timer = asio::steady_timer(context),
                                          .at = 0}));
  }
  void Try(const std::shared_ptr<Attempt>& attempt);

  asio::io_context& context;
  tcp::socket socket{context};
  bool closed = false;
};

void TcpSocket::State::Try(const std::shared_ptr<Attempt>& attempt) {
  const size_t at = attempt->at;
  error_code ignored;
  socket.close(ignored);
  if (attempt->endpoints.size() > 1) {
    attempt->timer.expires_after(attempt->patience);
    attempt->timer.async_wait([this, attempt, at](error_code cancelled) {
      // Where it is over, the socket may be gone.
      if (cancelled || attempt->at != at) return;
      error_code none;
      socket.close(none);
    });
  }
  socket.async_connect(
      attempt->endpoints[at], [this, attempt](error_code error) {
        error_code none;
        attempt->timer.cancel(none);
        const bool given_up = error == asio::error::operation_aborted ||
                              (!error && !socket.is_open());
        if (closed) {
          error = asio::error::operation_aborted;
        } else if (given_up) {
          error = asio::error::timed_out;
        }
        ++attempt->at;
        if (error && !closed && attempt->at < attempt->endpoints.size()) {
          Try(attempt);
          return;
        }
        attempt->at = attempt->endpoints.size();
        attempt->done(ToStatus(error));
      });
}

TcpListener::TcpListener(std::unique_ptr<Port> port) : port_(std::move(port)) {}
TcpListener::~TcpListener() = default;
TcpListener::TcpListener(TcpListener&&) noexcept = default;
TcpListener& TcpListener::operator=(TcpListener&&) noexcept = default;

absl::StatusOr<TcpListener> TcpListener::Listen(const std::string& address) {
  int number = 0;
  if (address.rfind(':') == std::string::npos ||
      !absl::SimpleAtoi(Split(address).port, &number)) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", address, "\" is not HOST:PORT"));
  }
  auto port = std::make_unique<Port>();
  error_code error;
  tcp::resolver resolver(port->context);
  const auto [host, service] = Split(address);
  const auto found =
      resolver.resolve(host, service, tcp::resolver::passive, error);
  if (!error) {
    tcp::endpoint endpoint = found.begin()->endpoint();
    const std::string resolved = endpoint.address().to_string();
    if (const auto chosen = ChooseListenAddress(host, resolved);
        chosen != resolved) {
      endpoint.address(asio::ip::make_address(chosen, error));
    }
    port->acceptor.open(endpoint.protocol(), error);
    if (!error) {
      port->acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    }
    if (!error) port->acceptor.bind(endpoint, error);
    if (!error) {
      port->acceptor.listen(asio::socket_base::max_listen_connections, error);
    }
  }
  if (error) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen on ", address, ": ", error.message(),
                     "; give this host an address of its own and a free port"));
  }
  return TcpListener(std::move(port));
}

int TcpListener::port() const {
  error_code error;
  return port_->acceptor.local_endpoint(error).port();
}

void TcpListener::Run() { port_->context.run(); }

void TcpListener::Post(std::function<void()> call) {
  asio::post(port_->context, std::move(call));
}

void TcpListener::Accept(TcpSocket& socket, Done done) {
  port_->acceptor.async_accept(
      socket.state_->socket,
      [done = std::move(done)](error_code error) { done(ToStatus(error)); });
}

void TcpListener::Close() {
  error_code ignored;
  port_->acceptor.close(ignored);
}

// ---- one socket ----

TcpSocket::TcpSocket(TcpListener& loop)
    : state_(std::make_unique<State>(loop.port_->context)) {}
TcpSocket::~TcpSocket() = default;

void TcpSocket::Connect(const std::string& address, Done done) {
  state_->closed = false;
  auto resolver = std::make_shared<tcp::resolver>(state_->context);
  const auto [name, port] = Split(address);
  resolver->async_resolve(
      name, port,
      [state = state_.get(), resolver, done = std::move(done)](
          error_code error, const tcp::resolver::results_type& found) {
        if (state->closed) error = asio::error::operation_aborted;
        if (error) return done(ToStatus(error));
        std::vector<tcp::endpoint> endpoints;
        for (const auto& entry : found) endpoints.push_back(entry.endpoint());
        state->Begin(std::move(endpoints), kPatience, done);
      });
}

void TcpSocket::ConnectToFirst(const std::vector<std::string>& addresses,
                               std::chrono::steady_clock::duration patience,
                               Done done) {
  state_->closed = false;
  error_code error;
  std::vector<tcp::endpoint> endpoints;
  for (const std::string& address : addresses) {
    const auto [host, port] = Split(address);
    uint32_t number = 0;
    const auto place = asio::ip::make_address(host, error);
    if (error || !absl::SimpleAtoi(port, &number)) break;
    endpoints.emplace_back(place, static_cast<uint16_t>(number));
  }
  if (endpoints.empty() || endpoints.size() != addresses.size()) {
    asio::post(state_->context, [done = std::move(done)] {
      done(absl::InvalidArgumentError("an address is not IP:PORT"));
    });
    return;
  }
  state_->Begin(std::move(endpoints), patience, std::move(done));
}

void TcpSocket::Configure(int send_buffer_bytes) {
  error_code ignored;
  state_->socket.set_option(tcp::no_delay(true), ignored);
  state_->socket.set_option(
      asio::socket_base::send_buffer_size(send_buffer_bytes), ignored);
}

void TcpSocket::Read(std::span<std::byte> bytes, Done done,
                     std::function<void()> heard) {
  asio::async_read(
      state_->socket, asio::buffer(bytes.data(), bytes.size()),
      [heard = std::move(heard), size = bytes.size()](const error_code& error,
                                                      size_t came) {
        if (came != 0 && heard) heard();
        return error ? size_t{0} : size - came;
      },
      [done = std::move(done)](error_code error, size_t) {
        done(ToStatus(error));
      });
}

void TcpSocket::ReadSome(std::span<std::byte> bytes, Done done) {
  state_->socket.async_read_some(
      asio::buffer(bytes.data(), bytes.size()),
      [done = std::move(done)](error_code error, size_t) {
        done(ToStatus(error));
      });
}

void TcpSocket::Write(std::span<const std::byte> header,
                      std::span<const std::byte> payload, Done done) {
  const std::array<asio::const_buffer, 2> buffers = {
      asio::buffer(header.data(), header.size()),
      asio::buffer(payload.data(), payload.size())};
  asio::async_write(state_->socket, buffers,
                    [done = std::move(done)](error_code error, size_t) {
                      done(ToStatus(error));
                    });
}

void TcpSocket::EndSending() {
  error_code ignored;
  state_->socket.shutdown(tcp::socket::shutdown_send, ignored);
}

void TcpSocket::Close() {
  state_->closed = true;
  error_code ignored;
  state_->socket.close(ignored);
}

int TcpSocket::descriptor() const {
  // Also where no operation of the loop has made it so yet.
  error_code ignored;
  state_->socket.native_non_blocking(true, ignored);
  return state_->socket.native_handle();
}

// ---- time ----

struct TcpTimer::State {
  explicit State(asio::io_context& context) : timer(context) {}
  asio::steady_timer timer;
};

TcpTimer::TcpTimer(TcpListener& loop)
    : state_(std::make_unique<State>(loop.port_->context)) {}
TcpTimer::~TcpTimer() = default;

void TcpTimer::After(std::chrono::steady_clock::duration time,
                     std::function<void()> call) {
  state_->timer.expires_after(time);
  state_->timer.async_wait([call = std::move(call)](error_code cancelled) {
    if (!cancelled) call();
  });
}

void TcpTimer::Cancel() {
  error_code ignored;
  state_->timer.cancel(ignored);
}

}  // namespace meshwright::worker::comm
