#include "worker/comm/tcp_transport.h"

#include <algorithm>
#include <boost/asio.hpp>
#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace meshwright::worker::comm {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using Clock = Transport::Clock;

constexpr auto kFirstPause = std::chrono::milliseconds(5);
constexpr auto kLongestPause = std::chrono::milliseconds(200);
constexpr double kBufferedSeconds = 0.02;
constexpr int kLeastBuffer = 64 << 10;
constexpr int kMostBuffer = 4 << 20;

Clock::duration Seconds(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(seconds));
}

int SendBuffer(const Link& link) {
  if (link.beta_seconds_per_byte <= 0) return kMostBuffer;
  const double bytes = kBufferedSeconds / link.beta_seconds_per_byte;
  return static_cast<int>(std::clamp<double>(bytes, kLeastBuffer, kMostBuffer));
}

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

// ---- listening ----

struct TcpListener::Socket {
  asio::io_context context{1};
  tcp::acceptor acceptor{context};
};

TcpListener::TcpListener(std::unique_ptr<Socket> socket)
    : socket_(std::move(socket)) {}
TcpListener::~TcpListener() = default;
TcpListener::TcpListener(TcpListener&&) noexcept = default;
TcpListener& TcpListener::operator=(TcpListener&&) noexcept = default;

absl::StatusOr<TcpListener> TcpListener::Listen(const std::string& address) {
  int port = 0;
  if (address.rfind(':') == std::string::npos ||
      !absl::SimpleAtoi(Split(address).port, &port)) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", address, "\" is not HOST:PORT"));
  }
  auto socket = std::make_unique<Socket>();
  error_code error;
  tcp::resolver resolver(socket->context);
  const auto [host, service] = Split(address);
  const auto found =
      resolver.resolve(host, service, tcp::resolver::passive, error);
  if (!error) {
    const tcp::endpoint endpoint = found.begin()->endpoint();
    socket->acceptor.open(endpoint.protocol(), error);
    if (!error) {
      socket->acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    }
    if (!error) socket->acceptor.bind(endpoint, error);
    if (!error) {
      socket->acceptor.listen(asio::socket_base::max_listen_connections, error);
    }
  }
  if (error) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen on ", address, ": ", error.message(),
                     "; give this host an address of its own and a free port"));
  }
  return TcpListener(std::move(socket));
}

int TcpListener::port() const {
  error_code error;
  return socket_->acceptor.local_endpoint(error).port();
}

// ---- one connection ----

namespace {

struct Message {
  FrameBytes header;
  std::span<const std::byte> payload;
  std::function<void()> sent;
  bool droppable = true;  // not begun; Close may take it back
};

// State of the connection with one peer. It belongs to Loop, and stays alive
// in the handlers of what is under way.
struct Connection {
  explicit Connection(asio::io_context& context)
      : socket(context), retry(context) {}

  int peer = -1;
  tcp::socket socket;
  asio::steady_timer retry;
  Clock::duration pause = kFirstPause;
  error_code last_failure;
  bool open = false;     // it stands, our HELLO is on its way
  bool greeted = false;  // the peer's came and fits
  bool broken = false;   // nothing more can be sent; reading tells why
  bool ended = false;
  bool finishing = false;  // Close: shut down once all is sent
  std::deque<Message> queue;
  bool writing = false;
  FrameBytes header = {};
  Frame frame;
  std::array<std::byte, kHelloBytes> hello = {};
  std::array<std::byte, 4096> rest = {};  // what comes after Close
  Clock::time_point heard;
  Clock::time_point said;
};

using ConnectionPtr = std::shared_ptr<Connection>;

}  // namespace

// ---- the loop ----

class TcpTransport::Loop {
 public:
  Loop(const Plan& plan, int self, TcpListener listener)
      : plan_(plan),
        self_(self),
        listener_(std::move(listener)),
        context_(listener_.socket_->context),
        fingerprint_(Fingerprint(plan)),
        deadline_(Seconds(plan.deadline_seconds)),
        tick_(context_),
        end_(context_) {}

  void Run(Events& events);
  void Send(int peer, Message message);
  void Close(const Frame& last, const std::string& text);
  void Drop();

 private:
  bool closing() const { return events_ == nullptr; }
  const Host& host(int index) const { return plan_.hosts[index]; }

  void Accept();
  void Welcome(ConnectionPtr connection);
  void Call(const ConnectionPtr& connection);
  void Dial(const ConnectionPtr& connection, const tcp::endpoint& endpoint);
  void CallAgain(const ConnectionPtr& connection, error_code error);
  void Open(const ConnectionPtr& connection);
  void CheckHello(const ConnectionPtr& connection);
  void Greeted(const ConnectionPtr& connection);

  void ReadHeader(const ConnectionPtr& connection,
                  void (Loop::*then)(const ConnectionPtr&));
  void ReadFrame(const ConnectionPtr& connection);
  void ReadPayload(const ConnectionPtr& connection);
  void Deliver(const ConnectionPtr& connection);
  void Write(const ConnectionPtr& connection);
  void Drain(const ConnectionPtr& connection);

  void Tick();
  void Beat(Clock::time_point now);
  void CheckCalls(Clock::time_point now);
  void Lose(const ConnectionPtr& connection, absl::StatusCode code,
            const std::string& why);
  void Break(const ConnectionPtr& connection, error_code error);
  void End(const ConnectionPtr& connection);
  void EndIfQuiet();

  const Plan& plan_;
  const int self_;
  TcpListener listener_;
  asio::io_context& context_;
  const std::string fingerprint_;
  const Clock::duration deadline_;
  asio::steady_timer tick_;
  asio::steady_timer end_;
  Events* events_ = nullptr;
  std::map<int, ConnectionPtr> connections_;  // by peer
  std::vector<ConnectionPtr> strangers_;      // accepted, not known yet
  Clock::time_point began_;
  bool connected_ = false;
  std::string last_text_;
};

void TcpTransport::Loop::Run(Events& events) {
  events_ = &events;
  began_ = Clock::now();
  for (const int peer : PeersOf(plan_, self_)) {
    auto connection = std::make_shared<Connection>(context_);
    connection->peer = peer;
    connections_[peer] = connection;
    if (peer < self_) Call(connection);
  }
  Accept();
  Tick();
  if (connections_.empty()) {
    connected_ = true;
    asio::post(context_, [this] {
      if (!closing()) events_->Connected();
    });
  }
  context_.run();
}

void TcpTransport::Loop::Accept() {
  auto connection = std::make_shared<Connection>(context_);
  listener_.socket_->acceptor.async_accept(
      connection->socket, [this, connection](error_code error) {
        // Without a descriptor left, whoever calls later is not heard.
        if (closing() || (error && error != asio::error::connection_aborted)) {
          return;
        }
        if (!error) Welcome(connection);
        Accept();
      });
}

// Reads who calls, before the connection takes its peer's place.
void TcpTransport::Loop::Welcome(ConnectionPtr connection) {
  strangers_.push_back(connection);
  asio::async_read(
      connection->socket, asio::buffer(connection->header),
      [this, connection](error_code error, size_t) {
        if (closing() || error) return End(connection);
        const auto frame = Decode(connection->header);
        if (!frame.ok() || frame->type != FrameType::kHello) {
          return End(connection);
        }
        Open(connection);
        // Callers stand later among the hosts, and call once.
        const auto known = connections_.find(static_cast<int>(frame->host));
        if (known == connections_.end() || known->first < self_ ||
            known->second->open) {
          connection->finishing = true;  // our HELLO tells it what runs here
          return Drain(connection);
        }
        connection->peer = known->first;
        connection->frame = *frame;
        known->second = connection;
        std::erase(strangers_, connection);
        CheckHello(connection);
      });
}

void TcpTransport::Loop::Call(const ConnectionPtr& connection) {
  auto resolver = std::make_shared<tcp::resolver>(context_);
  const auto [name, port] = Split(host(connection->peer).address);
  resolver->async_resolve(
      name, port,
      [this, connection, resolver](error_code error,
                                   const tcp::resolver::results_type& found) {
        if (closing()) return;
        if (error) return CallAgain(connection, error);
        Dial(connection, found.begin()->endpoint());
      });
}

void TcpTransport::Loop::Dial(const ConnectionPtr& connection,
                              const tcp::endpoint& endpoint) {
  connection->socket.async_connect(endpoint,
                                   [this, connection](error_code error) {
                                     if (closing() || connection->ended) return;
                                     if (error)
                                       return CallAgain(connection, error);
                                     Open(connection);
                                     ReadHeader(connection, &Loop::CheckHello);
                                   });
}

void TcpTransport::Loop::CallAgain(const ConnectionPtr& connection,
                                   error_code error) {
  connection->last_failure = error;
  error_code ignored;
  connection->socket.close(ignored);
  connection->retry.expires_after(connection->pause);
  connection->pause =
      std::min<Clock::duration>(2 * connection->pause, kLongestPause);
  connection->retry.async_wait([this, connection](error_code cancelled) {
    if (!cancelled && !closing() && !connection->ended) Call(connection);
  });
}

// A connection stands: settings, and our HELLO.
void TcpTransport::Loop::Open(const ConnectionPtr& connection) {
  error_code ignored;
  connection->socket.set_option(tcp::no_delay(true), ignored);
  connection->socket.set_option(
      asio::socket_base::send_buffer_size(SendBuffer(plan_.link)), ignored);
  connection->open = true;
  connection->heard = connection->said = Clock::now();
  Frame hello;
  hello.type = FrameType::kHello;
  hello.host = static_cast<uint32_t>(self_);
  hello.payload_bytes = kHelloBytes;
  connection->queue.push_back(
      {Encode(hello), std::as_bytes(std::span(fingerprint_)), nullptr, false});
  Write(connection);
}

// The header of a HELLO is in `frame`; its fingerprint follows.
void TcpTransport::Loop::CheckHello(const ConnectionPtr& connection) {
  if (connection->frame.type != FrameType::kHello ||
      connection->frame.payload_bytes != kHelloBytes ||
      connection->frame.host != static_cast<uint32_t>(connection->peer)) {
    return Lose(connection, absl::StatusCode::kFailedPrecondition,
                "another host answered in its place; put the addresses right");
  }
  asio::async_read(connection->socket, asio::buffer(connection->hello),
                   [this, connection](error_code error, size_t) {
                     if (error) return Break(connection, error);
                     if (closing()) return Drain(connection);
                     if (std::memcmp(connection->hello.data(),
                                     fingerprint_.data(), kHelloBytes) != 0) {
                       return Lose(
                           connection, absl::StatusCode::kFailedPrecondition,
                           "it runs another plan; give every host the same");
                     }
                     Greeted(connection);
                   });
}

void TcpTransport::Loop::Greeted(const ConnectionPtr& connection) {
  connection->greeted = true;
  connection->heard = Clock::now();
  ReadFrame(connection);
  connected_ = std::ranges::all_of(
      connections_, [](const auto& entry) { return entry.second->greeted; });
  if (connected_) events_->Connected();
}

// ---- reading and writing ----

// Into `frame`; then goes on.
void TcpTransport::Loop::ReadHeader(const ConnectionPtr& connection,
                                    void (Loop::*then)(const ConnectionPtr&)) {
  asio::async_read(connection->socket, asio::buffer(connection->header),
                   [this, connection, then](error_code error, size_t) {
                     if (error) return Break(connection, error);
                     if (closing()) return Drain(connection);
                     const auto frame = Decode(connection->header);
                     if (!frame.ok()) {
                       return Lose(connection, frame.status().code(),
                                   std::string(frame.status().message()));
                     }
                     connection->frame = *frame;
                     (this->*then)(connection);
                   });
}

void TcpTransport::Loop::ReadFrame(const ConnectionPtr& connection) {
  ReadHeader(connection, &Loop::ReadPayload);
}

void TcpTransport::Loop::ReadPayload(const ConnectionPtr& connection) {
  connection->heard = Clock::now();
  if (connection->frame.payload_bytes == 0) return Deliver(connection);
  const auto place = events_->Place(connection->peer, connection->frame);
  if (closing()) return Drain(connection);
  if (!place.ok()) {
    return Lose(connection, place.status().code(),
                std::string(place.status().message()));
  }
  asio::async_read(
      connection->socket, asio::buffer(place->data(), place->size()),
      [connection, size = place->size()](const error_code& error, size_t done) {
        if (done != 0) connection->heard = Clock::now();
        return error ? size_t{0} : size - done;
      },
      [this, connection](error_code error, size_t) {
        if (error) return Break(connection, error);
        if (closing()) return Drain(connection);
        Deliver(connection);
      });
}

void TcpTransport::Loop::Deliver(const ConnectionPtr& connection) {
  if (connection->frame.type != FrameType::kBeat) {
    events_->Arrived(connection->peer, connection->frame);
  }
  if (closing()) return Drain(connection);
  if (!connection->ended) ReadFrame(connection);
}

void TcpTransport::Loop::Write(const ConnectionPtr& connection) {
  if (connection->writing || connection->ended || connection->broken) return;
  if (connection->queue.empty()) {
    error_code ignored;
    if (connection->finishing) {
      connection->socket.shutdown(tcp::socket::shutdown_send, ignored);
    }
    return;
  }
  connection->writing = true;
  Message& message = connection->queue.front();
  message.droppable = false;
  const std::array<asio::const_buffer, 2> buffers = {
      asio::buffer(message.header),
      asio::buffer(message.payload.data(), message.payload.size())};
  asio::async_write(connection->socket, buffers,
                    [this, connection](error_code error, size_t) {
                      connection->writing = false;
                      connection->said = Clock::now();
                      if (connection->ended) return;
                      connection->broken = static_cast<bool>(error);
                      if (error) return;
                      const auto sent =
                          std::move(connection->queue.front().sent);
                      connection->queue.pop_front();
                      if (sent && !closing()) sent();
                      Write(connection);
                    });
}

void TcpTransport::Loop::Send(int peer, Message message) {
  const auto found = connections_.find(peer);
  if (found == connections_.end() || found->second->ended || closing()) return;
  found->second->queue.push_back(std::move(message));
  Write(found->second);
}

// After Close, what comes is thrown away: a socket closed with unread bytes
// resets the connection, and our last word with it.
void TcpTransport::Loop::Drain(const ConnectionPtr& connection) {
  if (connection->ended) return;
  connection->socket.async_read_some(
      asio::buffer(connection->rest),
      [this, connection](error_code error, size_t) {
        if (!error) return Drain(connection);
        End(connection);
        EndIfQuiet();
      });
}

// ---- time and endings ----

void TcpTransport::Loop::Tick() {
  tick_.expires_after(std::min(deadline_, Seconds(plan_.connect_seconds)) / 16);
  tick_.async_wait([this](error_code cancelled) {
    if (cancelled || closing()) return;
    const Clock::time_point now = Clock::now();
    CheckCalls(now);
    if (!closing()) Beat(now);
    if (!closing()) events_->Tick();
    if (!closing()) Tick();
  });
}

void TcpTransport::Loop::Beat(Clock::time_point now) {
  const auto connections = connections_;
  for (const auto& [peer, connection] : connections) {
    if (closing()) return;
    if (connection->ended || !connection->greeted) continue;
    if (now - connection->heard > deadline_ / 2) {
      Lose(connection, absl::StatusCode::kUnavailable,
           absl::StrCat("nothing was heard of it for ",
                        plan_.deadline_seconds / 2, " s"));
    } else if (now - connection->said > deadline_ / 8 &&
               connection->queue.empty()) {
      Send(peer, {Encode(Frame{}), {}, nullptr});
    }
  }
}

void TcpTransport::Loop::CheckCalls(Clock::time_point now) {
  if (connected_ || now - began_ <= Seconds(plan_.connect_seconds)) return;
  for (const auto& [peer, connection] : connections_) {
    if (connection->greeted) continue;
    const std::string reason =
        connection->last_failure
            ? absl::StrCat(" (", connection->last_failure.message(), ")")
            : "";
    events_->Lost(
        peer, absl::DeadlineExceededError(absl::StrCat(
                  "host ", host(peer).id, " at ", host(peer).address,
                  peer < self_ ? " cannot be reached" : " has not called",
                  " within ", plan_.connect_seconds, " s", reason,
                  "; start meshwright-comm there, or put its address right")));
    return;
  }
}

void TcpTransport::Loop::Break(const ConnectionPtr& connection,
                               error_code error) {
  if (closing()) {
    End(connection);
    return EndIfQuiet();
  }
  Lose(
      connection, absl::StatusCode::kUnavailable,
      error == asio::error::eof ? "it closed its connection" : error.message());
}

void TcpTransport::Loop::Lose(const ConnectionPtr& connection,
                              absl::StatusCode code, const std::string& why) {
  if (connection->ended) return;
  // One that is there and wrong still hears our last word.
  const bool there = code != absl::StatusCode::kUnavailable;
  if (!there) End(connection);
  if (closing()) return;
  events_->Lost(
      connection->peer,
      absl::Status(code, absl::StrCat("host ", host(connection->peer).id,
                                      " was lost: ", why)));
  if (there) Drain(connection);
}

void TcpTransport::Loop::End(const ConnectionPtr& connection) {
  connection->ended = true;
  error_code ignored;
  connection->retry.cancel(ignored);
  connection->socket.close(ignored);
}

void TcpTransport::Loop::EndIfQuiet() {
  const bool quiet = std::ranges::all_of(
      connections_, [](const auto& entry) { return entry.second->ended; });
  if (closing() && quiet) Drop();
}

void TcpTransport::Loop::Close(const Frame& last, const std::string& text) {
  if (closing()) return;
  events_ = nullptr;
  last_text_ = text.substr(0, kMostAbortBytes);
  Frame frame = last;
  frame.payload_bytes = static_cast<uint32_t>(last_text_.size());
  tick_.cancel();
  error_code ignored;
  listener_.socket_->acceptor.close(ignored);
  for (const auto& [peer, connection] : connections_) {
    if (!connection->open) End(connection);
    if (connection->ended) continue;
    std::erase_if(connection->queue,
                  [](const Message& message) { return message.droppable; });
    connection->queue.push_back(
        {Encode(frame), std::as_bytes(std::span(last_text_)), nullptr});
    connection->finishing = true;
    Write(connection);
  }
  end_.expires_after(deadline_ / 8);
  end_.async_wait([this](error_code cancelled) {
    if (!cancelled) Drop();
  });
  EndIfQuiet();
}

void TcpTransport::Loop::Drop() {
  events_ = nullptr;
  error_code ignored;
  listener_.socket_->acceptor.close(ignored);
  for (const auto& [peer, connection] : connections_) End(connection);
  for (const ConnectionPtr& connection : strangers_) End(connection);
  tick_.cancel(ignored);
  end_.cancel(ignored);
}

TcpTransport::TcpTransport(const Plan& plan, int self, TcpListener listener)
    : loop_(std::make_unique<Loop>(plan, self, std::move(listener))) {}
TcpTransport::~TcpTransport() = default;

void TcpTransport::Run(Events& events) { loop_->Run(events); }

void TcpTransport::Send(int peer, const Frame& frame,
                        std::span<const std::byte> payload,
                        std::function<void()> sent) {
  loop_->Send(peer, {Encode(frame), payload, std::move(sent)});
}

void TcpTransport::Close(const Frame& last, const std::string& text) {
  loop_->Close(last, text);
}

void TcpTransport::Drop() { loop_->Drop(); }

}  // namespace meshwright::worker::comm
