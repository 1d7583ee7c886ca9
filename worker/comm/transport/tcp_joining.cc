// How the ranks find each other.
#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "worker/comm/transport/tcp_transport.h"

namespace meshwright::worker::comm {
namespace {

constexpr auto kLongestPause = std::chrono::milliseconds(200);
constexpr double kBufferedSeconds = 0.02;
constexpr int kMinBuffer = 64 << 10;
constexpr int kMaxBuffer = 4 << 20;

int SendBuffer(const base::Link& link) {
  if (link.beta <= 0) return kMaxBuffer;
  const double bytes = kBufferedSeconds / link.beta;
  return static_cast<int>(std::clamp<double>(bytes, kMinBuffer, kMaxBuffer));
}

}  // namespace

void TcpTransport::Accept() {
  auto connection = std::make_shared<Connection>(listener_);
  listener_.Accept(
      connection->socket, [this, connection](const absl::Status& status) {
        // Without a descriptor left, whoever calls later is not heard.
        if (closing() || (!status.ok() && !absl::IsAborted(status))) return;
        if (status.ok()) Welcome(connection);
        Accept();
      });
}

// Reads who calls, before the connection takes its peer's place.
void TcpTransport::Welcome(ConnectionPtr connection) {
  strangers_.push_back(connection);
  connection->socket.Read(connection->header,
                          [this, connection](const absl::Status& status) {
                            if (closing() || !status.ok()) {
                              return End(connection);
                            }
                            Introduce(connection);
                          });
}

void TcpTransport::Introduce(const ConnectionPtr& connection) {
  const auto frame = Decode(connection->header);
  if (!frame.ok() || frame->type != FrameType::kHello) return End(connection);
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
}

void TcpTransport::Call(const ConnectionPtr& connection) {
  connection->socket.Connect(host(connection->peer).address,
                             [this, connection](const absl::Status& status) {
                               if (closing() || connection->ended) return;
                               if (!status.ok())
                                 return CallAgain(connection, status);
                               Open(connection);
                               ReadHeader(connection,
                                          &TcpTransport::CheckHello);
                             });
}

void TcpTransport::CallAgain(const ConnectionPtr& connection,
                             const absl::Status& failure) {
  connection->last_failure = failure;
  connection->socket.Close();
  const Clock::duration pause = connection->pause;
  connection->pause = std::min<Clock::duration>(2 * pause, kLongestPause);
  connection->retry.After(pause, [this, connection] {
    if (!closing() && !connection->ended) Call(connection);
  });
}

// A connection stands: settings, and our HELLO.
void TcpTransport::Open(const ConnectionPtr& connection) {
  connection->socket.Configure(SendBuffer(plan_.link));
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
void TcpTransport::CheckHello(const ConnectionPtr& connection) {
  if (connection->frame.type != FrameType::kHello ||
      connection->frame.payload_bytes != kHelloBytes ||
      connection->frame.host != static_cast<uint32_t>(connection->peer)) {
    return Lose(connection, absl::StatusCode::kFailedPrecondition,
                "another host answered in its place; put the addresses right");
  }
  connection->socket.Read(
      connection->hello, [this, connection](const absl::Status& status) {
        if (!status.ok()) return Break(connection, status);
        if (closing()) return Drain(connection);
        if (std::memcmp(connection->hello.data(), fingerprint_.data(),
                        kHelloBytes) != 0) {
          return Lose(connection, absl::StatusCode::kFailedPrecondition,
                      "it runs another plan; give every host the same");
        }
        Greeted(connection);
      });
}

void TcpTransport::Greeted(const ConnectionPtr& connection) {
  connection->greeted = true;
  connection->heard = Clock::now();
  ReadFrame(connection);
  connected_ = std::ranges::all_of(
      connections_, [](const auto& entry) { return entry.second->greeted; });
  if (connected_) events_->Connected();
}

}  // namespace meshwright::worker::comm
