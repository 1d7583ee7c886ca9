// RunnerBatches: batches in child processes, by worker/runner.
#ifndef MESHWRIGHT_WORKER_SERVICE_RUNNER_BATCHES_H_
#define MESHWRIGHT_WORKER_SERVICE_RUNNER_BATCHES_H_

#include "worker/service/dependencies.h"

namespace meshwright::worker {

// With the runner that worker/sandbox's FindRunner finds. Removes first what
// workers that were killed left of theirs.
BatchFunction RunnerBatches();

// The same for a member of a gang; empty for devices that join none: a CPU's,
// and one that stands for a mesh by itself.
MemberFunction RunnerMembers(const v1::DeviceSpec& devices);

// Runners that do not die (WorkerDependencies::find_fault).
std::string FindRunnerFault();

}  // namespace meshwright::worker

#endif  // MESHWRIGHT_WORKER_SERVICE_RUNNER_BATCHES_H_
