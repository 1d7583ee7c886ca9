// WorkerStep: the workers of an allocation, as one step of its job.
//
// Concept: srun starts them on every node: one for each GPU, or one for the
// processors of a node. The step overlaps with others of the job, as workers
// and the launcher take turns.
// Threads and ownership: one thread; the destructor stops the step.
// Errors: those of RunningProgram; of CheckGpus, kFailedPrecondition, one
// sentence with the way out. A worker that does not start says so on stderr.
#ifndef MESHWRIGHT_CLI_SLURM_WORKER_STEP_H_
#define MESHWRIGHT_CLI_SLURM_WORKER_STEP_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/slurm/allocation.h"
#include "cli/slurm/programs.h"

namespace meshwright::cli {

struct WorkerStepOptions {
  std::string program;  // meshwright-worker
  std::string platform;
  std::string plugin;  // empty: the bundled one
  // Of each worker of a CPU; empty: its default. In solo of the largest mesh
  // that a GPU stands for; empty: one of all GPUs of the job.
  std::string devices;
  bool solo = false;
  std::string coordinator;
  std::string ca_file;
  std::string token_file;
};

// One for each GPU of another platform than the CPU, else one a node: those of
// the node with the most, and all.
int CountWorkersPerNode(const Allocation& allocation,
                        const std::string& platform);
int CountWorkers(const Allocation& allocation, const std::string& platform);

// Refuses a job without GPUs, and one by tasks or in all whose nodes have
// unlike numbers: no step can ask for all of those.
absl::Status CheckGpus(const Allocation& allocation,
                       const std::string& platform);

// The command that starts them all, whatever tasks the job was asked for with.
std::vector<std::string> WriteWorkerStep(const Allocation& allocation,
                                         const WorkerStepOptions& options);

class WorkerStep {
 public:
  static absl::StatusOr<std::unique_ptr<WorkerStep>> Start(
      const Allocation& allocation, const WorkerStepOptions& options);
  ~WorkerStep();

  // The exit status of srun; nullopt: it runs after `patience`.
  std::optional<int> FindEnd(absl::Duration patience) {
    return srun_->AwaitEnd(patience);
  }
  // Asks the workers to leave, and ends the step where they do not.
  void Stop();

 private:
  WorkerStep(std::string job, std::unique_ptr<RunningProgram> srun)
      : job_(std::move(job)), srun_(std::move(srun)) {}

  const std::string job_;
  const std::unique_ptr<RunningProgram> srun_;
};

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_SLURM_WORKER_STEP_H_
