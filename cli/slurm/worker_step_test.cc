#include "cli/slurm/worker_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_join.h"

namespace meshwright::cli {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Allocation TwoNodes() {
  Allocation allocation;
  allocation.job = "7";
  allocation.nodes = {"gpu3", "gpu4"};
  allocation.gpus_per_node = 4;
  allocation.gpus = 6;
  allocation.processors_per_node = 48;
  return allocation;
}

WorkerStepOptions OnPlatform(const std::string& platform) {
  WorkerStepOptions options;
  options.program = "/opt/meshwright-worker";
  options.platform = platform;
  options.devices = "8";
  options.coordinator = "10.0.0.3:4242";
  options.ca_file = "ca.pem";
  options.token_file = "token";
  return options;
}

TEST(WorkerStepTest, OneWorkerAGpu) {
  const auto words = WriteWorkerStep(TwoNodes(), OnPlatform("cuda"));
  EXPECT_THAT(words, Contains("srun"));
  // A job by its GPUs has a processor a node.
  EXPECT_THAT(words, Contains("--overcommit"));
  EXPECT_THAT(words, Contains("--ntasks=8"));
  EXPECT_THAT(words, Contains("--ntasks-per-node=4"));
  EXPECT_THAT(words, Contains("--cpus-per-task=12"));
  EXPECT_THAT(absl::StrJoin(words, " "), HasSubstr("SLURM_LOCALID"));
  EXPECT_THAT(words, Not(Contains("--devices")));
  EXPECT_THAT(words, Contains("--wait=0"));
  EXPECT_EQ(CountWorkers(TwoNodes(), "cuda"), 6);
  EXPECT_EQ(CountWorkers(TwoNodes(), "cpu"), 2);
}

// srun takes the job's variables for flags, and slurmctld the job's number a
// task for that of a step which names none.
TEST(WorkerStepTest, TheStepHasEveryGpuOfAJobThatAskedByItsTasks) {
  Allocation allocation = TwoNodes();
  allocation.gpus = 8;
  const std::string plain =
      absl::StrJoin(WriteWorkerStep(allocation, OnPlatform("cuda")), " ");
  EXPECT_THAT(plain, StartsWith("env -u SLURM_GPUS -u SLURM_GPUS_PER_TASK "));
  EXPECT_THAT(plain, Not(HasSubstr("--gpus-per-node")));
  allocation.gpus_by_task = true;
  EXPECT_THAT(WriteWorkerStep(allocation, OnPlatform("cuda")),
              Contains("--gpus-per-node=4"));
  EXPECT_THAT(
      absl::StrJoin(WriteWorkerStep(allocation, OnPlatform("cpu")), " "),
      Not(HasSubstr("--gpus-per-node")));
}

// A step asks for one number of GPUs a node.
TEST(WorkerStepTest, AJobByItsTasksNeedsAsManyGpusOnEachNode) {
  Allocation allocation = TwoNodes();
  EXPECT_TRUE(CheckGpus(allocation, "cuda").ok());
  allocation.gpus_by_task = true;
  EXPECT_TRUE(CheckGpus(allocation, "cpu").ok());
  const absl::Status refused = CheckGpus(allocation, "cuda");
  EXPECT_TRUE(absl::IsFailedPrecondition(refused));
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("6 GPUs on 2 nodes, and 4 on one of them; ask sbatch"));
  allocation.gpus = 8;
  EXPECT_TRUE(CheckGpus(allocation, "cuda").ok());
}

TEST(WorkerStepTest, AJobWithoutGpusMayTakeTheProcessors) {
  Allocation allocation = TwoNodes();
  allocation.gpus_per_node = allocation.gpus = 0;
  EXPECT_TRUE(CheckGpus(allocation, "cpu").ok());
  EXPECT_THAT(std::string(CheckGpus(allocation, "cuda").message()),
              HasSubstr("no GPUs"));
}

TEST(WorkerStepTest, OneWorkerANodeOfProcessors) {
  const auto words = WriteWorkerStep(TwoNodes(), OnPlatform("cpu"));
  EXPECT_THAT(words, Contains("--ntasks=2"));
  EXPECT_THAT(words, Contains("--cpus-per-task=48"));
  EXPECT_THAT(absl::StrJoin(words, " "), HasSubstr("--devices 8"));
}

TEST(WorkerStepTest, NoSecretIsAnArgument) {
  EXPECT_THAT(
      absl::StrJoin(WriteWorkerStep(TwoNodes(), OnPlatform("cpu")), " "),
      HasSubstr("--ca ca.pem --token-file token"));
}

// What the tasks of a node run, with a program that says its arguments.
std::string ChosenDevice(const std::string& visible, int task) {
  WorkerStepOptions options = OnPlatform("cuda");
  options.program = "echo";
  const auto words = WriteWorkerStep(TwoNodes(), options);
  const auto shell = std::find(words.begin(), words.end(), "sh");
  std::vector<std::string> command = {"env", "CUDA_VISIBLE_DEVICES=" + visible,
                                      "SLURM_LOCALID=" + std::to_string(task)};
  command.insert(command.end(), shell, words.end());
  const std::string said = *RunProgram(command);
  return said.empty() ? "" : said.substr(said.find("--devices"));
}

TEST(WorkerStepTest, EachTaskHasTheGpuOfItsNumber) {
  EXPECT_EQ(ChosenDevice("2,5", 0), "--devices 2,\n");
  EXPECT_EQ(ChosenDevice("2,5", 1), "--devices 5,\n");
  EXPECT_EQ(ChosenDevice("GPU-a,MIG-b", 1), "--devices MIG-b,\n");
  EXPECT_EQ(ChosenDevice("", 3), "--devices 3,\n");
  // A node with fewer than another one.
  EXPECT_EQ(ChosenDevice("2,5", 2), "");
  EXPECT_EQ(ChosenDevice("0", 0), "--devices 0,\n");
  EXPECT_EQ(ChosenDevice("0", 1), "");
}

// The mesh has all GPUs of the job; the worker sees its own.
TEST(WorkerStepTest, EachGpuStandsForAMeshOverTheNodes) {
  WorkerStepOptions options = OnPlatform("cuda");
  options.solo = true;
  options.devices = "";
  const auto words = WriteWorkerStep(TwoNodes(), options);
  EXPECT_THAT(words, Contains("--ntasks=8"));
  const std::string step = absl::StrJoin(words, " ");
  EXPECT_THAT(step, HasSubstr("export CUDA_VISIBLE_DEVICES=\"$gpu\""));
  EXPECT_THAT(step, HasSubstr(" --solo --devices 6"));
  EXPECT_THAT(step, Not(HasSubstr("$gpu,\"")));
  // Or more than the job has.
  options.devices = "64";
  EXPECT_THAT(absl::StrJoin(WriteWorkerStep(TwoNodes(), options), " "),
              HasSubstr(" --solo --devices 64"));
}

}  // namespace
}  // namespace meshwright::cli
