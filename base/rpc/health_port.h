// HealthPort: a port that answers gRPC's health checks and nothing else.
//
// Concept: whoever looks after processes (Kubernetes' gRPC probes) speaks
// neither TLS nor tokens, and sees nothing else through this port. It answers
// for two services of the protocol grpc.health.v1:
//
//   ""          SERVING between SetReady(true) and SetReady(false)
//   "liveness"  SERVING while Alive is called; NOT_SERVING once it was not
//               called in `patience_looks` looks, one a second. Looks and not
//               a clock: a process that was stopped for an hour does not hang.
//
// Threads: any. Errors: those of ListeningSockets::Open and Acceptor::Start.
#ifndef MESHWRIGHT_BASE_RPC_HEALTH_PORT_H_
#define MESHWRIGHT_BASE_RPC_HEALTH_PORT_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/mutex.h"

namespace meshwright::base {

class HealthPort {
 public:
  struct Options {
    absl::Duration look = absl::Seconds(1);
    int patience_looks = 30;
  };

  // `address` as a person wrote it (CompleteAddress). Live and not ready.
  static absl::StatusOr<std::unique_ptr<HealthPort>> Start(
      const std::string& address, const Options& options);
  ~HealthPort();
  HealthPort(const HealthPort&) = delete;
  HealthPort& operator=(const HealthPort&) = delete;

  void SetReady(bool ready);
  void Alive() { calls_.fetch_add(1, std::memory_order_relaxed); }

  // HOST:PORT, with the port that was chosen.
  const std::string& address() const { return address_; }

 private:
  struct Server;
  HealthPort(std::unique_ptr<Server> server, std::string address);
  void Look(const Options& options) ABSL_LOCKS_EXCLUDED(mutex_);

  const std::unique_ptr<Server> server_;
  const std::string address_;
  std::atomic<int64_t> calls_ = 0;
  base::Mutex mutex_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::jthread looks_;  // last: joined before the rest is destroyed
};

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_RPC_HEALTH_PORT_H_
