// Session: one connection of a worker to its coordinator, from Hello to end.
//
// Concept: one thread reads what the coordinator says, one beats, and the
// batches (leases.h) tell what they have; writes of all go through one lock.
// A coordinator that says nothing for the lease time is taken for lost.
// Errors: those of the stream, which Run returns in the coordinator's code and
// words; kFailedPrecondition where the coordinator is older than this worker.
// Threads: Run on the daemon's thread; Drain and Stop from any other.
#ifndef MESHWRIGHT_WORKER_SERVICE_SESSION_H_
#define MESHWRIGHT_WORKER_SERVICE_SESSION_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "proto/v1/services.pb.h"
#include "worker/service/dependencies.h"
#include "worker/service/leases.h"

namespace grpc {
class Channel;
}  // namespace grpc

namespace meshwright::worker {

class Session {
 public:
  // The references outlive it.
  Session(const std::shared_ptr<grpc::Channel>& channel,
          const WorkerDependencies& dependencies, const v1::WorkerHello& hello,
          Leases* leases);
  ~Session();

  // Returns when the stream is over: OK when the coordinator closed it because
  // the worker drained, stopped or it asked for that.
  absl::Status Run();
  // After Run: where the coordinator sent this worker; empty: nowhere.
  const std::string& leader() const;
  // Asks for no more batches. Run goes on until the one at hand is over. Before
  // Run, Hello says it.
  void Drain();
  // Gives the lease back. Run returns soon, whether the coordinator answers or
  // not.
  void Stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace meshwright::worker

#endif  // MESHWRIGHT_WORKER_SERVICE_SESSION_H_
