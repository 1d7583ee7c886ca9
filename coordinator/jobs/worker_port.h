// WorkerPort: what the queue sees of one attached worker. Implemented by the
// gRPC stream of coordinator/service and by the fakes of the tests.
//
// Threads: called with the queue's lock held, so an implementation returns at
// once and never calls the queue back from inside a call.
// Ownership: a port lives until JobQueue::Detach for it has returned.
// Errors: CanRun gives kUnavailable with what the worker lacks.
#ifndef MESHWRIGHT_COORDINATOR_JOBS_WORKER_PORT_H_
#define MESHWRIGHT_COORDINATOR_JOBS_WORKER_PORT_H_

#include <string>

#include "absl/status/status.h"
#include "coordinator/jobs/measurer.h"
#include "proto/v1/job.pb.h"

namespace meshwright::jobs {

struct WorkerDescription {
  std::string name;  // what the worker calls itself; unique while attached
  std::string host;
  // Who may replace it while it is attached: whoever has the same owner.
  std::string owner;
  // The plugin the worker was started with; empty: the build's own.
  std::string plugin_path;
  // device_count: the most devices a program may use there.
  DeviceDescription devices;
};

class WorkerPort {
 public:
  virtual ~WorkerPort() = default;

  // Run these programs and report under this lease. At most one lease is out
  // per worker.
  virtual void Push(const std::string& lease,
                    const v1::RunnerRequest& request) = 0;
  // Nobody waits for this lease any more. The worker still reports it finished.
  virtual void Cancel(const std::string& lease) = 0;
  // The worker drained, fell silent or was replaced: end the connection.
  virtual void Close(const absl::Status& reason) = 0;
};

// OK, or why a worker cannot run programs for `device`. `exactly`, where it is
// set, asks for that plugin version and device kind.
absl::Status CanRun(const WorkerDescription& worker,
                    const v1::DeviceSpec& device,
                    const DeviceDescription* exactly);

}  // namespace meshwright::jobs

#endif  // MESHWRIGHT_COORDINATOR_JOBS_WORKER_PORT_H_
