// ServeWhileIdle: a worker that has its devices only while nobody else does.
//
// Concept: it waits until the devices are idle, serves, and leaves as soon as
// somebody uses them (idle_watch.h). Leaving hands leases back and stops the
// running program, which another worker begins anew; nothing is lost. Looks are
// so close that, with the second that a farewell may take, it is gone within
// two seconds.
// Threads: blocks; looks at the devices on a thread of its own while it serves.
// Errors: those of Worker::Start, the first time. Devices that opened before
// and do not now are somebody's.
#ifndef MESHWRIGHT_WORKER_SERVICE_WHILE_IDLE_H_
#define MESHWRIGHT_WORKER_SERVICE_WHILE_IDLE_H_

#include <functional>
#include <stop_token>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "worker/service/dependencies.h"

namespace meshwright::worker {

struct WhileIdleOptions {
  // Who else uses the devices (devices::DeviceUsers::Find).
  std::function<std::string()> find_user;
  absl::Duration idle_for = absl::Minutes(1);
  // A load may be a passing one.
  absl::Duration busy_for;
  absl::Duration look = absl::Milliseconds(250);
  std::function<void()> alive = [] {};  // called at every look
};

// Until a stop, which it leaves for like for a user.
absl::Status ServeWhileIdle(const WorkerDependencies& dependencies,
                            const WhileIdleOptions& options,
                            const std::stop_token& stop);

}  // namespace meshwright::worker

#endif  // MESHWRIGHT_WORKER_SERVICE_WHILE_IDLE_H_
