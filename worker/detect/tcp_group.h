// TcpGroup: the connections of a group of hosts that time their links.
//
// Concept: one connection per pair. The host that stands later in the list
// calls, again and again until the other answers or the time is over: it may
// not listen yet, or a relay before it may cut the connection. Each says who it
// is and what list it has. A stranger is refused by a greeting that fits none.
// Exchange then
// moves bytes both ways at once and returns when both are through. It calls the
// kernel itself, so that nothing but the link is timed.
// Threads and ownership: one thread.
// Errors: kInvalidArgument for a list that names hosts twice or not this one,
// kUnavailable for a host that does not come or leaves, kDeadlineExceeded for
// one that stands still, kFailedPrecondition for one with another list.
// Trusts its network, as NCCL does: nothing is encrypted or authenticated.
#ifndef MESHWRIGHT_WORKER_DETECT_TCP_GROUP_H_
#define MESHWRIGHT_WORKER_DETECT_TCP_GROUP_H_

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/comm/transport/tcp_socket.h"

namespace meshwright::worker::detect {

struct TcpHost {
  std::string name;
  std::string address;  // HOST:PORT, where it listens and others find it
};

class TcpGroup {
 public:
  using Clock = std::chrono::steady_clock;

  // Returns when every pair is connected.
  static absl::StatusOr<std::unique_ptr<TcpGroup>> Join(
      std::vector<TcpHost> hosts, const std::string& self,
      Clock::duration patience);
  TcpGroup(const TcpGroup&) = delete;
  TcpGroup& operator=(const TcpGroup&) = delete;

  int self() const { return self_; }
  int size() const { return static_cast<int>(hosts_.size()); }
  const TcpHost& host(int index) const { return hosts_[index]; }

  // Sends `out` to one host and fills `in` from one, perhaps another. Without
  // a host that half is left out. Gives up where nothing moves for `patience`.
  absl::Status Exchange(std::optional<int> to, std::span<const std::byte> out,
                        std::optional<int> from, std::span<std::byte> in,
                        Clock::duration patience);

 private:
  // Who calls, and a digest of the names of all hosts.
  static constexpr size_t kGreetingBytes = 16;
  using Greeting = std::array<std::byte, kGreetingBytes>;
  struct Caller;

  TcpGroup(std::vector<TcpHost> hosts, int self, comm::TcpListener listener);
  absl::Status Connect(Clock::duration patience);
  void Accept();
  void Welcome(const std::shared_ptr<Caller>& caller);
  void Call(int peer, Clock::duration pause);
  void CallAgain(int peer, Clock::duration pause, const absl::Status& failure);
  void Greeted(int peer);
  void Joined(int peer);
  void StopJoining();
  Greeting MakeGreeting() const;
  absl::Status Lose(int peer, absl::StatusCode code,
                    const std::string& why) const;
  // One call of the kernel, unless all of `size` is through.
  absl::Status Move(int peer, bool sends, size_t size,
                    const std::function<ssize_t()>& call, size_t& moved) const;

  const std::vector<TcpHost> hosts_;
  const int self_;
  comm::TcpListener listener_;
  std::vector<std::unique_ptr<comm::TcpSocket>> sockets_;  // by host
  std::vector<int> descriptors_;                           // of these
  // While they join:
  std::vector<std::unique_ptr<comm::TcpTimer>> retries_;
  std::vector<std::shared_ptr<Caller>> callers_;
  std::vector<Greeting> greetings_;  // of those that were called
  std::vector<bool> joined_;
  Greeting own_greeting_;
  std::unique_ptr<comm::TcpTimer> deadline_;
  absl::Status last_failure_;
  absl::Status refusal_;
  bool joining_ = false;
};

}  // namespace meshwright::worker::detect

#endif  // MESHWRIGHT_WORKER_DETECT_TCP_GROUP_H_
