// Restrictions: what a runner takes from itself before it opens a plugin.
//
// Concept: programs, the compiler and plugins are not ours. Each measure is
// tried on its own; one that this machine refuses leaves the others standing.
//   privileges    no program that it starts gains any (no_new_privs)
//   system calls  a filter (system_call_filter.h)
//   network       no sockets but AF_UNIX. The driver of an accelerator also
//                 lists interfaces; several accelerators join over sockets,
//                 so for them it does not hold.
//   limits        no core dump, bounded files and processes. Never address
//                 space: CUDA and allocators reserve far more than they use.
// Limits are only lowered; a process that needs more than these is stuck.
// Out: one entry for each measure; whatever does not hold says why.
// Threads: call it while there is one thread. It holds for all that follow, and
// for the programs that they start.
#ifndef MESHWRIGHT_WORKER_SANDBOX_RESTRICTIONS_H_
#define MESHWRIGHT_WORKER_SANDBOX_RESTRICTIONS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/v1/job.pb.h"

namespace meshwright::worker::sandbox {

// The measure holds if `status` is OK.
v1::SandboxMeasure MakeMeasure(const std::string& name,
                               const absl::Status& status);

std::vector<v1::SandboxMeasure> RestrictThisProcess(
    const v1::DeviceSpec& device);

}  // namespace meshwright::worker::sandbox

#endif  // MESHWRIGHT_WORKER_SANDBOX_RESTRICTIONS_H_
