// Transport: one rank's connections, its clock and its loop.
//
// Concept: the rank (rank.h) says what goes to whom; the transport moves
// it and tells what came. Payloads are never copied: a sent one stays where it
// is until `sent`, a received one is written where `Place` says. Frames to one
// peer arrive in their order. TcpTransport is the one for hosts; one over
// device links implements the same interface.
//
//   Run ─▶ Connected ─▶ Place, Arrived, Tick ... ─▶ Close or Drop ─▶ Run ends
//
// Threads: all calls and all events in the thread of Run; nothing is locked.
// Errors: a peer that cannot be reached, closes, falls silent or sends what is
// no frame is Lost, in one sentence with its id. The rank decides what to do
// about it. Events end with Close or Drop.
#ifndef MESHWRIGHT_WORKER_COMM_TRANSPORT_TRANSPORT_H_
#define MESHWRIGHT_WORKER_COMM_TRANSPORT_TRANSPORT_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/comm/protocol/frame.h"

namespace meshwright::worker::comm {

class Transport {
 public:
  using Clock = std::chrono::steady_clock;

  class Events {
   public:
    virtual ~Events() = default;
    // Every peer is there.
    virtual void Connected() = 0;
    // Where the payload of `frame` goes: exactly its payload_bytes, untouched
    // by others until Arrived or Lost. kDataLoss for a frame that nobody waits
    // for, which ends the connection.
    virtual absl::StatusOr<std::span<std::byte>> Place(int peer,
                                                       const Frame& frame) = 0;
    virtual void Arrived(int peer, const Frame& frame) = 0;
    virtual void Lost(int peer, const absl::Status& why) = 0;
    // Several times within the deadline.
    virtual void Tick() = 0;
  };

  virtual ~Transport() = default;

  // Connects to the peers and serves them until the connections are closed.
  virtual void Run(Events& events) = 0;

  // `sent`: the transport has taken the payload; it may be reused.
  virtual void Send(int peer, const Frame& frame,
                    std::span<const std::byte> payload = {},
                    std::function<void()> sent = nullptr) = 0;

  // Drops what has not begun to be sent and says `last` with `text` to every
  // peer. Ends each connection once that peer ends it too, or with the
  // deadline.
  virtual void Close(const Frame& last, const std::string& text) = 0;

  // Ends everything at once, as a crash would.
  virtual void Drop() = 0;
};

}  // namespace meshwright::worker::comm

#endif  // MESHWRIGHT_WORKER_COMM_TRANSPORT_TRANSPORT_H_
