// Worker: the daemon that owns devices and runs what a coordinator pushes.
//
// Concept: it holds one stream to its coordinator. A batch that comes is run
// by the function handed in (worker/runner's RunBatch), whose events go back
// as they happen; a heartbeat goes every few seconds.
//
//   Start ─▶ connecting ══Hello══▶ attached ── batch ─▶ running ─▶ attached
//                ▲                    │
//                └── stream ended ◀───┘   the running batch is given up: the
//                    (backoff)            coordinator has put it back already
//   Drain ─▶ no more batches; the one at hand ends, then the worker leaves.
//   Stop  ─▶ the batch at hand is given up, its child killed; leaves now.
//
// Threads and ownership: Start, Drain, Stop and Wait from any thread.
// `run_batch` is called on one thread at a time.
// Errors: Start fails when the devices cannot be opened (the runner's words);
// a coordinator that is away is no error, the worker keeps trying.
#ifndef MESHWRIGHT_WORKER_SERVICE_WORKER_H_
#define MESHWRIGHT_WORKER_SERVICE_WORKER_H_

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/v1/job.pb.h"

namespace meshwright::worker {

using OnRunnerEvent = std::function<void(const v1::RunnerEvent&)>;
// Runs the programs of one request, one result each, unless it fails as a
// whole. Returns soon after a stop.
using BatchFunction = std::function<absl::Status(
    const v1::RunnerRequest& request, const OnRunnerEvent& on_event,
    std::stop_token stop)>;

// What the devices say of themselves, by a run with no programs.
absl::StatusOr<v1::RunnerEvent::Ready> DescribeDevices(
    const v1::DeviceSpec& devices, const BatchFunction& run_batch);

class Worker {
 public:
  struct Dependencies {
    std::string coordinator_address;
    std::string name;  // unique among the coordinator's workers
    std::string host;
    // device_count: the most devices a program may use here.
    v1::DeviceSpec devices;
    BatchFunction run_batch;
    absl::Duration heartbeat = absl::Seconds(5);
    // A connection is tried again after the first, then twice as long, up to
    // the second.
    absl::Duration first_backoff = absl::Milliseconds(100);
    absl::Duration longest_backoff = absl::Seconds(5);
  };

  explicit Worker(Dependencies dependencies);
  ~Worker();  // stops
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  absl::Status Start();
  void Drain();
  void Stop();
  // Until it has left, drained or stopped.
  void Wait();

 private:
  class Daemon;
  std::unique_ptr<Daemon> daemon_;
};

// A name for this process: host, process id.
std::string DefaultWorkerName();
std::string HostName();

}  // namespace meshwright::worker

#endif  // MESHWRIGHT_WORKER_SERVICE_WORKER_H_
