// Who is lost, and how it is known.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "worker/comm/transport/tcp_transport.h"

namespace meshwright::worker::comm {

void TcpTransport::Tick() {
  const Clock::duration shorter =
      std::min(deadline_, ToDuration(plan_.connect_seconds));
  tick_.After(shorter / 16, [this] {
    if (closing()) return;
    const Clock::time_point now = Clock::now();
    CheckCalls(now);
    if (!closing()) Beat(now);
    if (!closing()) events_->Tick();
    if (!closing()) Tick();
  });
}

void TcpTransport::Beat(Clock::time_point now) {
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
      Send(peer, Frame{}, {}, nullptr);
    }
  }
}

void TcpTransport::CheckCalls(Clock::time_point now) {
  if (connected_ || now - began_ <= ToDuration(plan_.connect_seconds)) return;
  for (const auto& [peer, connection] : connections_) {
    if (connection->greeted) continue;
    const std::string reason =
        connection->last_failure.ok()
            ? ""
            : absl::StrCat(" (", connection->last_failure.message(), ")");
    events_->Lost(
        peer, absl::DeadlineExceededError(absl::StrCat(
                  "host ", host(peer).id, " at ", host(peer).address,
                  peer < self_ ? " cannot be reached" : " has not called",
                  " within ", plan_.connect_seconds, " s", reason,
                  "; start meshwright-comm there, or put its address right")));
    return;
  }
}

void TcpTransport::Break(const ConnectionPtr& connection,
                         const absl::Status& status) {
  if (closing()) {
    End(connection);
    return EndIfQuiet();
  }
  Lose(connection, absl::StatusCode::kUnavailable,
       std::string(status.message()));
}

void TcpTransport::Lose(const ConnectionPtr& connection, absl::StatusCode code,
                        const std::string& why) {
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

}  // namespace meshwright::worker::comm
