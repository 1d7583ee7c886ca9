// The receiving side of a connection.
#include <string>

#include "worker/comm/transport/tcp_transport.h"

namespace meshwright::worker::comm {

// Into `frame`; then goes on.
void TcpTransport::ReadHeader(
    const ConnectionPtr& connection,
    void (TcpTransport::*then)(const ConnectionPtr&)) {
  connection->socket.Read(
      connection->header, [this, connection, then](const absl::Status& status) {
        if (!status.ok()) return Break(connection, status);
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

void TcpTransport::ReadFrame(const ConnectionPtr& connection) {
  ReadHeader(connection, &TcpTransport::ReadPayload);
}

void TcpTransport::ReadPayload(const ConnectionPtr& connection) {
  connection->heard = Clock::now();
  if (connection->frame.payload_bytes == 0) return Deliver(connection);
  const auto place = events_->Place(connection->peer, connection->frame);
  if (closing()) return Drain(connection);
  if (!place.ok()) {
    return Lose(connection, place.status().code(),
                std::string(place.status().message()));
  }
  connection->socket.Read(
      *place,
      [this, connection](const absl::Status& status) {
        if (!status.ok()) return Break(connection, status);
        if (closing()) return Drain(connection);
        Deliver(connection);
      },
      // The connection lives in the function above.
      [heard = &connection->heard] { *heard = Clock::now(); });
}

void TcpTransport::Deliver(const ConnectionPtr& connection) {
  if (connection->frame.type != FrameType::kBeat) {
    events_->Arrived(connection->peer, connection->frame);
  }
  if (closing()) return Drain(connection);
  if (!connection->ended) ReadFrame(connection);
}

// After Close, what comes is thrown away: a socket closed with unread bytes
// resets the connection, and our last word with it.
void TcpTransport::Drain(const ConnectionPtr& connection) {
  if (connection->ended) return;
  connection->socket.ReadSome(connection->rest,
                              [this, connection](const absl::Status& status) {
                                if (status.ok()) return Drain(connection);
                                End(connection);
                                EndIfQuiet();
                              });
}

}  // namespace meshwright::worker::comm
