// The sending side of a connection.
#include <utility>

#include "worker/comm/transport/tcp_transport.h"

namespace meshwright::worker::comm {

void TcpTransport::Send(int peer, const Frame& frame,
                        std::span<const std::byte> payload,
                        std::function<void()> sent) {
  const auto found = connections_.find(peer);
  if (found == connections_.end() || found->second->ended || closing()) return;
  found->second->queue.push_back({Encode(frame), payload, std::move(sent)});
  Write(found->second);
}

// The next of the queue, once the one before is on its way.
void TcpTransport::Write(const ConnectionPtr& connection) {
  if (connection->writing || connection->ended || connection->broken) return;
  if (connection->queue.empty()) {
    if (connection->finishing) connection->socket.EndSending();
    return;
  }
  connection->writing = true;
  Message& message = connection->queue.front();
  message.droppable = false;
  connection->socket.Write(message.header, message.payload,
                           [this, connection](const absl::Status& status) {
                             Wrote(connection, status);
                           });
}

void TcpTransport::Wrote(const ConnectionPtr& connection,
                         const absl::Status& status) {
  connection->writing = false;
  connection->said = Clock::now();
  if (connection->ended) return;
  connection->broken = !status.ok();
  if (connection->broken) return;
  const auto sent = std::move(connection->queue.front().sent);
  connection->queue.pop_front();
  if (sent && !closing()) sent();
  Write(connection);
}

}  // namespace meshwright::worker::comm
