#include "worker/comm/transport/tcp_transport.h"

#include <algorithm>
#include <string>
#include <utility>

namespace meshwright::worker::comm {

TcpTransport::TcpTransport(const Plan& plan, int self, TcpListener listener)
    : plan_(plan),
      self_(self),
      listener_(std::move(listener)),
      fingerprint_(ComputeFingerprint(plan)),
      deadline_(ToDuration(plan.deadline_seconds)),
      tick_(listener_),
      end_(listener_),
      guest_(listener_) {}

void TcpTransport::Run(Events& events) {
  events_ = &events;
  began_ = Clock::now();
  for (const int peer : FindPeers(plan_, self_)) {
    auto connection = std::make_shared<Connection>(listener_);
    connection->peer = peer;
    connections_[peer] = connection;
    if (peer < self_) Call(connection);
  }
  Accept();
  Tick();
  if (connections_.empty()) {
    connected_ = true;
    listener_.Post([this] {
      if (!closing()) events_->Connected();
    });
  }
  listener_.Run();
}

void TcpTransport::End(const ConnectionPtr& connection) {
  connection->ended = true;
  connection->retry.Cancel();
  connection->socket.Close();
}

void TcpTransport::EndIfQuiet() {
  const bool quiet = std::ranges::all_of(
      connections_, [](const auto& entry) { return entry.second->ended; });
  if (closing() && quiet) Drop();
}

void TcpTransport::Close(const Frame& last, const std::string& text) {
  if (closing()) return;
  events_ = nullptr;
  last_text_ = text.substr(0, kMaxAbortBytes);
  Frame frame = last;
  frame.payload_bytes = static_cast<uint32_t>(last_text_.size());
  tick_.Cancel();
  listener_.Close();
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
  end_.After(deadline_ / 8, [this] { Drop(); });
  EndIfQuiet();
}

void TcpTransport::Drop() {
  events_ = nullptr;
  listener_.Close();
  for (const auto& [peer, connection] : connections_) End(connection);
  for (const ConnectionPtr& connection : strangers_) End(connection);
  tick_.Cancel();
  end_.Cancel();
}

}  // namespace meshwright::worker::comm
