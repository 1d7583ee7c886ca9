#include "cli/slurm/worker_step.h"

#include <signal.h>

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"

namespace meshwright::cli {
namespace {

constexpr char kStepName[] = "meshwright-workers";
constexpr absl::Duration kToLeave = absl::Seconds(10);
// Each task takes the GPU of its number on the node; one that there is none for
// ends. Slurm's own binding would hide the others, and NCCL reaches a neighbour
// it cannot see over sockets.
constexpr char kFindGpu[] =
    "gpus=${CUDA_VISIBLE_DEVICES:-$(seq -s, 0 63)}; "
    "gpu=$(echo \"$gpus,\" | cut -d, -f$((SLURM_LOCALID + 1))); "
    "[ -n \"$gpu\" ] || exit 0; ";
constexpr char kOneGpuEach[] = "exec \"$@\" --devices \"$gpu,\"";
// The number of its devices is that of the mesh it stands for.
constexpr char kSoloGpuEach[] =
    "export CUDA_VISIBLE_DEVICES=\"$gpu\"; exec \"$@\"";
// Of the job's tasks, which are others than the workers.
constexpr const char* kOfOtherTasks[] = {
    "SLURM_GPUS", "SLURM_GPUS_PER_TASK", "SLURM_NTASKS_PER_GPU",
    "SLURM_TRES_PER_TASK", "SLURM_GPU_BIND"};

// "7.2" of each step of that name.
std::vector<std::string> FindSteps(const std::string& job) {
  const auto steps = RunProgram(
      {"squeue", "--noheader", "--steps", "--jobs", job, "--format", "%i %j"});
  std::vector<std::string> found;
  if (!steps.ok()) return found;
  for (const absl::string_view line :
       absl::StrSplit(*steps, '\n', absl::SkipWhitespace())) {
    const std::vector<std::string> words =
        absl::StrSplit(line, ' ', absl::SkipWhitespace());
    if (words.size() == 2 && words[1] == kStepName) found.push_back(words[0]);
  }
  return found;
}

}  // namespace

int CountWorkersPerNode(const Allocation& allocation,
                        const std::string& platform) {
  return platform == "cpu" ? 1 : std::max(allocation.gpus_per_node, 1);
}

int CountWorkers(const Allocation& allocation, const std::string& platform) {
  return platform == "cpu" ? static_cast<int>(allocation.nodes.size())
                           : std::max(allocation.gpus, 1);
}

absl::Status CheckGpus(const Allocation& allocation,
                       const std::string& platform) {
  if (platform == "cpu") return absl::OkStatus();
  if (allocation.gpus_per_node == 0) {
    return absl::FailedPreconditionError(
        "Slurm gave this job no GPUs; ask sbatch for them with "
        "--gpus-per-node, or plan with --platform cpu");
  }
  const int nodes = static_cast<int>(allocation.nodes.size());
  if (allocation.gpus_by_task &&
      allocation.gpus != nodes * allocation.gpus_per_node) {
    return absl::FailedPreconditionError(absl::StrCat(
        "Slurm gave this job ", allocation.gpus, " GPUs on ", nodes,
        " nodes, and ", allocation.gpus_per_node,
        " on one of them; ask sbatch for as many on each with --nodes and "
        "--gpus-per-node"));
  }
  return absl::OkStatus();
}

std::vector<std::string> WriteWorkerStep(const Allocation& allocation,
                                         const WorkerStepOptions& options) {
  const int nodes = static_cast<int>(allocation.nodes.size());
  const int per_node = CountWorkersPerNode(allocation, options.platform);
  std::vector<std::string> words = {"env"};
  for (const char* const variable : kOfOtherTasks) {
    words.emplace_back("-u");
    words.emplace_back(variable);
  }
  words.insert(
      words.end(),
      {"srun", absl::StrCat("--job-name=", kStepName), "--overlap",
       // A job by its GPUs has a processor a node.
       "--overcommit", absl::StrCat("--nodes=", nodes),
       absl::StrCat("--ntasks=", nodes * per_node),
       absl::StrCat("--ntasks-per-node=", per_node),
       absl::StrCat("--cpus-per-task=",
                    std::max(allocation.processors_per_node / per_node, 1)),
       "--mem=0", "--cpu-bind=none", "--input=none", "--kill-on-bad-exit=0",
       // Tasks without a GPU end first; the others stay.
       "--wait=0", "--label"});
  const bool has_gpus = options.platform != "cpu";
  // Else the controller gives a step the job's number for each of its tasks, or
  // one on the first node.
  if (has_gpus && allocation.gpus_by_task) {
    words.push_back(absl::StrCat("--gpus-per-node=", per_node));
  }
  if (has_gpus) {
    const std::string script =
        absl::StrCat(kFindGpu, options.solo ? kSoloGpuEach : kOneGpuEach);
    words.insert(words.end(), {"sh", "-c", script, "sh"});
  }
  words.insert(words.end(),
               {options.program, "--coordinator", options.coordinator, "--ca",
                options.ca_file, "--token-file", options.token_file,
                "--platform", options.platform, "--drain-seconds", "0"});
  if (!options.plugin.empty()) {
    words.insert(words.end(), {"--plugin", options.plugin});
  }
  if (options.solo) {
    const int gpus = CountWorkers(allocation, options.platform);
    words.insert(words.end(), {"--solo", "--devices",
                               options.devices.empty() ? absl::StrCat(gpus)
                                                       : options.devices});
  } else if (!has_gpus && !options.devices.empty()) {
    words.insert(words.end(), {"--devices", options.devices});
  }
  return words;
}

absl::StatusOr<std::unique_ptr<WorkerStep>> WorkerStep::Start(
    const Allocation& allocation, const WorkerStepOptions& options) {
  ASSIGN_OR_RETURN(
      std::unique_ptr<RunningProgram> srun,
      RunningProgram::Start(WriteWorkerStep(allocation, options), {}, true));
  return std::unique_ptr<WorkerStep>(
      new WorkerStep(allocation.job, std::move(srun)));
}

WorkerStep::~WorkerStep() { Stop(); }

void WorkerStep::Stop() {
  if (FindEnd(absl::ZeroDuration()).has_value()) return;
  for (const std::string& step : FindSteps(job_)) {
    RunProgram({"scancel", "--signal=TERM", step}).IgnoreError();
  }
  if (srun_->AwaitEnd(kToLeave).has_value()) return;
  srun_->Signal(SIGTERM);  // ends the step
  srun_->AwaitEnd(kToLeave);
}

}  // namespace meshwright::cli
