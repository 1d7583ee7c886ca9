// WorkerDependencies: what a worker and its sessions are built from.
//
// Errors: a BatchFunction fails as sandbox::RunBatch does (runner_process.h).
#ifndef MESHWRIGHT_WORKER_SERVICE_DEPENDENCIES_H_
#define MESHWRIGHT_WORKER_SERVICE_DEPENDENCIES_H_

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/rpc/channel_security.h"
#include "proto/v1/job.pb.h"
#include "proto/v1/services.pb.h"
#include "worker/sandbox/gang_inbox.h"

namespace meshwright::worker {

using OnRunnerEvent = std::function<void(const v1::RunnerEvent&)>;
// Runs the programs of one request, one result each, unless it fails as a
// whole. Returns soon after a stop.
using BatchFunction = std::function<absl::Status(
    const v1::RunnerRequest& request, const OnRunnerEvent& on_event,
    std::stop_token stop)>;

// The same for a request with a gang, whose runner is told what comes into the
// inbox.
using MemberFunction = std::function<absl::Status(
    const v1::RunnerRequest& request, const OnRunnerEvent& on_event,
    std::stop_token stop, sandbox::GangInbox* inbox)>;

// How a device is joined to others of its host, by places on the bus.
struct DeviceLinks {
  std::string place;                  // its own
  std::vector<std::string> devices;   // at the other ends of its links
  std::vector<std::string> switches;  // there, too
};

struct WorkerDependencies {
  // One, or several over one store, with commas between them.
  std::string coordinator_address;
  base::ChannelSecurity security;
  std::string name;  // unique among the coordinator's workers
  std::string host;
  // device_count: the maximum of devices per program.
  v1::DeviceSpec devices;
  BatchFunction run_batch;
  MemberFunction run_member;  // empty: this worker joins no gangs
  std::vector<DeviceLinks> links;
  // The fault of the machine, for which nothing can be measured on it; empty:
  // none. Asked after every batch, and now and then while there is something.
  std::function<std::string()> find_fault = [] { return std::string(); };
  // Hears what the coordinator says before the worker does it, on the thread of
  // the connection.
  std::function<void(const v1::CoordinatorMessage&)> on_message =
      [](const v1::CoordinatorMessage&) {};
  absl::Duration heartbeat = absl::Seconds(5);
  // A connection is tried again after the first, then twice as long, up to
  // the second.
  absl::Duration first_backoff = absl::Milliseconds(100);
  absl::Duration longest_backoff = absl::Seconds(5);
};

}  // namespace meshwright::worker

#endif  // MESHWRIGHT_WORKER_SERVICE_DEPENDENCIES_H_
