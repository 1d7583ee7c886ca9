// OpenClientLock: the lock of the devices that a client has here.
//
// Concept: whoever times on a device, a runner or the detector, takes the same
// lock (devices/timing_lock.h). It goes by the devices' own names, as the
// plugin numbers them anew in every process.
// Threads: any. Errors: those of TimingLock::Open.
#ifndef MESHWRIGHT_WORKER_RUNNER_CLIENT_LOCK_H_
#define MESHWRIGHT_WORKER_RUNNER_CLIENT_LOCK_H_

#include <memory>

#include "absl/status/statusor.h"
#include "worker/devices/timing_lock.h"
#include "worker/pjrt/client.h"

namespace meshwright::worker::runner {

absl::StatusOr<std::unique_ptr<devices::TimingLock>> OpenClientLock(
    const pjrt::Client& client);

}  // namespace meshwright::worker::runner

#endif  // MESHWRIGHT_WORKER_RUNNER_CLIENT_LOCK_H_
