// Worker: the daemon that owns devices and runs what a coordinator pushes.
//
// Concept: it holds one stream to its coordinator. A batch that comes is run by
// the function handed in (worker/runner's RunBatch), whose events go back as
// they happen. A heartbeat goes every few seconds.
//
//   Start ─▶ connecting ══Hello══▶ attached ── batch ─▶ running ─▶ attached
//                ▲                    │
//                └── stream ended ◀───┘   the batch runs on until its lease
//                    (backoff)            ends (leases.h)
//   Of several coordinators it tries one after the other, and goes to the one
//   that leads when another sends it there.
//   Drain ─▶ no more batches; the one at hand ends, then the worker leaves. It
//            connects again for what it holds, until the coordinator is silent
//            for the lease time.
//   Stop  ─▶ the batch at hand is given back, its child killed; leaves now.
//
// Threads and ownership: Start, Drain, Stop and Wait from any thread.
// `run_batch` is called on one thread at a time.
// Errors, of Start: kFailedPrecondition with the runner's words for devices
// that do not open, kInternal where it said nothing, those of the channel
// (base/rpc/channel.h). A coordinator that is away is no error: the worker
// keeps trying.
#ifndef MESHWRIGHT_WORKER_SERVICE_WORKER_H_
#define MESHWRIGHT_WORKER_SERVICE_WORKER_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/v1/job.pb.h"
#include "worker/service/dependencies.h"

namespace meshwright::worker {

// The description of the devices, by a run with no programs.
absl::StatusOr<v1::RunnerEvent::Ready> DescribeDevices(
    const v1::DeviceSpec& devices, const BatchFunction& run_batch);

class Worker {
 public:
  using Dependencies = WorkerDependencies;

  explicit Worker(Dependencies dependencies);
  ~Worker();  // stops
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Opens the devices, then connects in the background. Errors: see above.
  absl::Status Start();
  // Returns at once; Wait waits for the end.
  void Drain();
  // Returns when it has left. May be called again.
  void Stop();
  // Until it has left, drained or stopped.
  void Wait();
  // The same for a time; false: it has not left.
  bool WaitFor(absl::Duration timeout);

 private:
  class Daemon;
  std::unique_ptr<Daemon> daemon_;
};

// A name for this process: host, process id.
std::string MakeWorkerName();

}  // namespace meshwright::worker

#endif  // MESHWRIGHT_WORKER_SERVICE_WORKER_H_
