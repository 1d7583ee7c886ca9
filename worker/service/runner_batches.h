// RunnerBatches: batches in child processes, by worker/runner.
#ifndef MESHWRIGHT_WORKER_SERVICE_RUNNER_BATCHES_H_
#define MESHWRIGHT_WORKER_SERVICE_RUNNER_BATCHES_H_

#include "worker/service/dependencies.h"

namespace meshwright::worker {

// With the runner that worker/sandbox's FindRunner finds. Removes first what
// workers that were killed left of theirs.
BatchFunction RunnerBatches();

// Runners that do not die (WorkerDependencies::find_fault).
std::string FindRunnerFault();

}  // namespace meshwright::worker

#endif  // MESHWRIGHT_WORKER_SERVICE_RUNNER_BATCHES_H_
