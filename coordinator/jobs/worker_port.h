// WorkerPort: what the queue sees of one attached worker. Implemented by the
// gRPC stream of coordinator/service and by the fakes of the tests.
//
// Threads: called with the queue's lock held, so an implementation returns at
// once and never calls the queue back from inside a call.
// Ownership: a port lives until JobQueue::Detach for it has returned.
// Errors: CanRun gives kUnavailable with what the worker lacks.
#ifndef MESHWRIGHT_COORDINATOR_JOBS_WORKER_PORT_H_
#define MESHWRIGHT_COORDINATOR_JOBS_WORKER_PORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "coordinator/jobs/gangs/linked_members.h"
#include "coordinator/jobs/lease_id.h"
#include "coordinator/jobs/measurer.h"
#include "proto/v1/job.pb.h"

namespace meshwright::jobs {

struct WorkerDescription {
  std::string name;  // what the worker calls itself; unique while attached
  std::string host;
  std::string fault;         // of its machine, when it attaches; empty: none
  bool is_draining = false;  // it began to before it attached
  // Who may replace it: whoever has the same owner.
  std::string owner;
  // The process that it is. While it is connected nobody else replaces it:
  // two that share a name and an owner would replace each other for ever.
  std::string session;
  // The plugin the worker was started with; empty: the build's own.
  std::string plugin_path;
  // It runs a part of a program with other workers of its host.
  bool joins_gangs = false;
  gangs::LinkEnds links;  // of all its devices
  // device_count: the most devices a program may use there.
  DeviceDescription devices;
};

// A lease that a worker brings along when it attaches.
struct HeldLease {
  LeaseId id;
  std::vector<std::string> keys;  // of its programs
  bool is_over = false;           // nothing of it runs any more
};

// The first message to a worker that attaches.
struct Welcome {
  int64_t epoch = 0;
  // A lease ends when nothing was heard of its worker for this long. The worker
  // counts in the same way, and stops then.
  absl::Duration lease_time;
  // Of the leases it holds: it goes on with these, and sends all that it has to
  // say of them once more. It drops the rest.
  std::vector<LeaseId> resumed;
};

class WorkerPort {
 public:
  virtual ~WorkerPort() = default;

  // The first message to the worker.
  virtual void Greet(const Welcome& welcome) = 0;
  // Run these programs and report under this lease. At most one lease runs per
  // worker. The log scope says for whom.
  virtual void Push(LeaseId lease, const v1::RunnerRequest& request) = 0;
  // Nobody waits for this lease any more. The worker still reports it finished.
  virtual void Cancel(LeaseId lease) = 0;
  // The results under this lease are stored; the worker may forget them.
  virtual void Acknowledge(LeaseId lease) = 0;
  // For the runner of a lease of a gang.
  virtual void Tell(LeaseId lease, const v1::GangMessage& message) = 0;
  // The worker drained, fell silent or was replaced: end the connection.
  virtual void Close(const absl::Status& reason) = 0;
};

// OK, or why a worker cannot run programs for `device`. `exactly`, where it is
// set, asks for that plugin version and device kind.
absl::Status CanRun(const WorkerDescription& worker,
                    const v1::DeviceSpec& device,
                    const DeviceDescription* exactly);

// How many workers like this one run programs for `device` together: 1, it
// alone; 0, none do. `may_share`: whether several may.
int CountMembers(const WorkerDescription& worker, const v1::DeviceSpec& device,
                 const DeviceDescription* exactly, bool may_share);

}  // namespace meshwright::jobs

#endif  // MESHWRIGHT_COORDINATOR_JOBS_WORKER_PORT_H_
