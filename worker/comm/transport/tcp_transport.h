// TcpTransport: the ranks' connections over TCP.
//
// Concept: one connection per pair of peers (plan.h, FindPeers). The one that
// stands later among the hosts calls, again and again until the other listens
// or `connect_seconds` are over. Each says HELLO with the plan's fingerprint,
// so that a rank with another plan hears of it. Afterwards BEATs tell silence
// and death apart. Every eighth of the deadline each rank sends something, and
// a rank that has sent nothing for half of the deadline is lost. The kernel's
// send buffer holds about 20 ms of the link. That is enough to ride over a busy
// processor, and little enough that "sent" means it (ports, plan.h). The life
// of one connection, file by file:
//
//   tcp_joining.cc    who calls whom, and HELLO ─▶ greeted
//   tcp_sending.cc    a queue of messages, one at a time on the socket
//   tcp_receiving.cc  header, place, payload, Arrived; after Close: drained
//   tcp_watch.cc      beats, silence, peers that do not come, and being lost
//   tcp_transport.cc  beginning and end of them all
//
// Ownership: a connection lives in the handlers of what is under way.
// Threads: Run's. Errors: kUnavailable and kDeadlineExceeded for a peer that
// is not there or lost, kFailedPrecondition for another plan, kDataLoss for
// bytes that are no frame.
// Trusts its network, as NCCL does: nothing is encrypted or authenticated.
#ifndef MESHWRIGHT_WORKER_COMM_TRANSPORT_TCP_TRANSPORT_H_
#define MESHWRIGHT_WORKER_COMM_TRANSPORT_TCP_TRANSPORT_H_

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "worker/comm/protocol/plan.h"
#include "worker/comm/transport/tcp_socket.h"
#include "worker/comm/transport/transport.h"

namespace meshwright::worker::comm {

class TcpTransport : public Transport {
 public:
  // `plan` is valid and outlives this.
  TcpTransport(const Plan& plan, int self, TcpListener listener);

  void Run(Events& events) override;
  void Send(int peer, const Frame& frame, std::span<const std::byte> payload,
            std::function<void()> sent) override;
  void Close(const Frame& last, const std::string& text) override;
  void Drop() override;

  // Calls once, in the thread of Run, in place of what was to be called before.
  void After(Clock::duration time, std::function<void()> call) {
    guest_.After(time, std::move(call));
  }

 private:
  static constexpr auto kFirstPause = std::chrono::milliseconds(5);

  struct Message {
    FrameBytes header;
    std::span<const std::byte> payload;
    std::function<void()> sent;
    bool droppable = true;  // not begun; Close may take it back
  };

  struct Connection {
    explicit Connection(TcpListener& loop) : socket(loop), retry(loop) {}

    int peer = 0;  // of a stranger not known yet
    TcpSocket socket;
    TcpTimer retry;
    Clock::duration pause = kFirstPause;
    absl::Status last_failure;
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

  bool closing() const { return events_ == nullptr; }
  const Host& host(int index) const { return plan_.hosts[index]; }

  void Accept();
  void Welcome(ConnectionPtr connection);
  void Introduce(const ConnectionPtr& connection);
  void Call(const ConnectionPtr& connection);
  void CallAgain(const ConnectionPtr& connection, const absl::Status& failure);
  void Open(const ConnectionPtr& connection);
  void CheckHello(const ConnectionPtr& connection);
  void Greeted(const ConnectionPtr& connection);

  void Write(const ConnectionPtr& connection);
  void Wrote(const ConnectionPtr& connection, const absl::Status& status);

  void ReadHeader(const ConnectionPtr& connection,
                  void (TcpTransport::*then)(const ConnectionPtr&));
  void ReadFrame(const ConnectionPtr& connection);
  void ReadPayload(const ConnectionPtr& connection);
  void Deliver(const ConnectionPtr& connection);
  void Drain(const ConnectionPtr& connection);

  void Tick();
  void Beat(Clock::time_point now);
  void CheckCalls(Clock::time_point now);
  void Lose(const ConnectionPtr& connection, absl::StatusCode code,
            const std::string& why);
  void Break(const ConnectionPtr& connection, const absl::Status& status);
  void End(const ConnectionPtr& connection);
  void EndIfQuiet();

  const Plan& plan_;
  const int self_;
  TcpListener listener_;
  const std::string fingerprint_;
  const Clock::duration deadline_;
  TcpTimer tick_;
  TcpTimer end_;
  TcpTimer guest_;  // After
  Events* events_ = nullptr;
  std::map<int, ConnectionPtr> connections_;  // by peer
  std::vector<ConnectionPtr> strangers_;      // accepted, not known yet
  Clock::time_point began_;
  bool connected_ = false;
  std::string last_text_;
};

// Of seconds as they stand in a plan.
inline Transport::Clock::duration ToDuration(double seconds) {
  return std::chrono::duration_cast<Transport::Clock::duration>(
      std::chrono::duration<double>(seconds));
}

}  // namespace meshwright::worker::comm

#endif  // MESHWRIGHT_WORKER_COMM_TRANSPORT_TCP_TRANSPORT_H_
