#include "cli/slurm/allocation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "absl/strings/str_join.h"

namespace meshwright::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct MadeUpSlurm {
  std::map<std::string, std::string> variables = {
      {"SLURM_JOB_ID", "7"},       {"SLURM_JOB_NODELIST", "gpu[3-4]"},
      {"SLURMD_NODENAME", "gpu3"}, {"SLURM_SUBMIT_DIR", "/shared/runs"},
      {"SLURM_GPUS_ON_NODE", "8"}, {"SLURM_JOB_CPUS_PER_NODE", "64(x2),48"}};
  std::map<std::string, std::string> answers = {
      {"scontrol show hostnames gpu[3-4]", "gpu3\ngpu4\n"},
      {"scontrol --oneliner show node gpu3",
       "NodeName=gpu3 Arch=x86_64 NodeAddr=10.0.0.3 NodeHostName=a3 Port=1\n"}};

  absl::StatusOr<Allocation> Read() {
    return ReadAllocation([this](const char* name) { return variables[name]; },
                          [this](const std::vector<std::string>& words)
                              -> absl::StatusOr<std::string> {
                            return answers[absl::StrJoin(words, " ")];
                          });
  }
};

TEST(AllocationTest, IsWhatTheJobAndScontrolSay) {
  const auto allocation = MadeUpSlurm().Read();
  ASSERT_TRUE(allocation.ok()) << allocation.status();
  EXPECT_EQ(allocation->job, "7");
  EXPECT_THAT(allocation->nodes, ElementsAre("gpu3", "gpu4"));
  EXPECT_EQ(allocation->address, "10.0.0.3");
  EXPECT_EQ(allocation->folder, "/shared/runs");
  EXPECT_EQ(allocation->gpus_per_node, 8);
  EXPECT_EQ(allocation->gpus, 16);
  EXPECT_EQ(allocation->processors_per_node, 48);
}

TEST(AllocationTest, NodesWithoutGpus) {
  MadeUpSlurm slurm;
  slurm.variables.erase("SLURM_GPUS_ON_NODE");
  EXPECT_EQ(slurm.Read()->gpus_per_node, 0);
}

TEST(AllocationTest, NodesWithUnlikeNumbersOfGpus) {
  MadeUpSlurm slurm;
  slurm.variables["SLURM_GPUS_ON_NODE"] = "2";
  slurm.variables["SLURM_JOB_NODELIST"] = "gpu[3-6]";
  slurm.answers["scontrol show hostnames gpu[3-6]"] =
      "gpu3\ngpu4\ngpu5\ngpu6\n";
  slurm.answers["scontrol show hostnames gpu3"] = "gpu3\n";
  slurm.answers["scontrol show hostnames gpu[4-5]"] = "gpu4\ngpu5\n";
  slurm.answers["scontrol --details show job 7"] =
      "JobId=7 JobName=plan\n"
      "   NumNodes=4 NumCPUs=16 TRES=cpu=16,node=4,gres/gpu=10\n"
      "   JOB_GRES=gpu:10\n"
      "     Nodes=gpu3 CPU_IDs=0-3 Mem=8 GRES=gpu:2(IDX:0-1)\n"
      "     Nodes=gpu[4-5] CPU_IDs=0-3 Mem=8 "
      "GRES=gpu:a100:4(IDX:0,2-4),shard:a100:9\n"
      "     Nodes=gpu6 CPU_IDs=0-3 Mem=8 GRES=\n";
  const auto allocation = slurm.Read();
  ASSERT_TRUE(allocation.ok()) << allocation.status();
  EXPECT_EQ(allocation->gpus_per_node, 4);
  EXPECT_EQ(allocation->gpus, 10);
}

TEST(AllocationTest, GpusThatAreAskedForByTask) {
  EXPECT_FALSE(MadeUpSlurm().Read()->gpus_by_task);
  const std::map<std::string, std::string> ways = {
      {"SLURM_GPUS_PER_TASK", "1"},
      {"SLURM_GPUS", "16"},
      {"SLURM_TRES_PER_TASK", "cpu=2,gres/gpu=1"}};
  for (const auto& [name, value] : ways) {
    MadeUpSlurm slurm;
    slurm.variables[name] = value;
    EXPECT_TRUE(slurm.Read()->gpus_by_task) << name;
  }
}

TEST(AllocationTest, OutsideAJobTheErrorNamesSbatch) {
  MadeUpSlurm slurm;
  slurm.variables.clear();
  const auto allocation = slurm.Read();
  EXPECT_TRUE(absl::IsFailedPrecondition(allocation.status()));
  EXPECT_THAT(std::string(allocation.status().message()), HasSubstr("sbatch"));
}

TEST(AllocationTest, BesideTheNodesTheErrorNamesSrun) {
  MadeUpSlurm slurm;
  slurm.variables.erase("SLURMD_NODENAME");
  EXPECT_THAT(std::string(slurm.Read().status().message()),
              HasSubstr("srun --overlap"));
}

TEST(AllocationTest, ANodeWithoutAnAddressIsAnError) {
  MadeUpSlurm slurm;
  slurm.answers.clear();
  EXPECT_TRUE(absl::IsFailedPrecondition(slurm.Read().status()));
}

}  // namespace
}  // namespace meshwright::cli
