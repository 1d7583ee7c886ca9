// What goes out on a connection.
#include <utility>

#include "worker/comm/tcp_loop.h"

namespace meshwright::worker::comm {

void TcpTransport::Loop::Send(int peer, Message message) {
  const auto found = connections_.find(peer);
  if (found == connections_.end() || found->second->ended || closing()) return;
  found->second->queue.push_back(std::move(message));
  Write(found->second);
}

// The next of the queue, once the one before is on its way.
void TcpTransport::Loop::Write(const ConnectionPtr& connection) {
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

void TcpTransport::Loop::Wrote(const ConnectionPtr& connection,
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
