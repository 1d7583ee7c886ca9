// TcpTransport: the members' connections over TCP.
//
// Concept: one connection per pair of peers (plan.h, PeersOf); the one that
// stands later among the hosts calls, again and again until the other listens
// or `connect_seconds` are over. Each says HELLO with the plan's fingerprint,
// so that a member with another plan is told so. Afterwards, silence is told
// from death by BEATs: every eighth of the deadline each says something, and
// who has said nothing for half of it is lost.
// The kernel's send buffer holds about 20 ms of the link: enough to ride over
// a busy processor, and little enough that "sent" means it (ports, plan.h).
// Threads: Run's. Errors: kUnavailable and kDeadlineExceeded for a peer that
// is not there or lost, kFailedPrecondition for another plan, kDataLoss for
// bytes that are no frame.
// Trusts its network, as NCCL does: nothing is encrypted or authenticated.
#ifndef MESHWRIGHT_WORKER_COMM_TCP_TRANSPORT_H_
#define MESHWRIGHT_WORKER_COMM_TCP_TRANSPORT_H_

#include <functional>
#include <memory>
#include <string>

#include "worker/comm/plan.h"
#include "worker/comm/tcp_socket.h"
#include "worker/comm/transport.h"

namespace meshwright::worker::comm {

class TcpTransport : public Transport {
 public:
  // `plan` is valid and outlives this.
  TcpTransport(const Plan& plan, int self, TcpListener listener);
  ~TcpTransport() override;

  void Run(Events& events) override;
  void Send(int peer, const Frame& frame, std::span<const std::byte> payload,
            std::function<void()> sent) override;
  void Close(const Frame& last, const std::string& text) override;
  void Drop() override;

  // Calls once, in the thread of Run, in place of what was to be called before.
  void After(Clock::duration time, std::function<void()> call);

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace meshwright::worker::comm

#endif  // MESHWRIGHT_WORKER_COMM_TCP_TRANSPORT_H_
