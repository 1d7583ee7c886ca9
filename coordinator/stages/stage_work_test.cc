#include "coordinator/stages/stage_work.h"

#include <gtest/gtest.h>

#include <optional>

#include "planner/pipeline/partition.h"

namespace meshwright::stages {
namespace {

using pipeline::Picoseconds;
using pipeline::Schedule;

StageWork MakeEqualPasses(int64_t update) {
  StageWork work;
  work.stage.forward = Picoseconds(10);
  work.stage.backward_input = Picoseconds(10);
  work.stage.backward_weight = Picoseconds(12);
  work.stage.backward = Picoseconds(20);
  work.update = Picoseconds(update);
  return work;
}

TEST(StageWorkTest, AnUpdateIsInTheGradientsApartAndTogether) {
  const pipeline::Stage stage = SpreadUpdate(MakeEqualPasses(7), 2);
  EXPECT_EQ(stage.forward, Picoseconds(10));
  EXPECT_EQ(stage.backward_input, Picoseconds(10));
  EXPECT_EQ(stage.backward_weight, Picoseconds(16));
  EXPECT_EQ(stage.backward, Picoseconds(24));
}

TEST(StageWorkTest, GradientsThatAreASumStaySo) {
  StageWork work = MakeEqualPasses(8);
  work.stage.backward.reset();
  EXPECT_EQ(SpreadUpdate(work, 2).Backward(), Picoseconds(26));
}

// Three segments of equal passes on two devices. The last one's update is as
// long as the passes of two.
TEST(StageWorkTest, TheUpdateMovesTheCut) {
  pipeline::PartitionProblem problem;
  problem.meshes.push_back({"1x1", 1});
  problem.devices = 2;
  problem.micro_batches = 2;
  problem.boundaries.resize(2);
  problem.stage_costs = [](const pipeline::StageOnMesh& stage, int) {
    StageWork work = MakeEqualPasses(stage.end == 3 ? 60 : 0);
    const int64_t segments = stage.end - stage.first;
    work.stage.forward *= segments;
    *work.stage.backward *= segments;
    return std::optional(SpreadUpdate(work, 2));
  };
  const auto cut = pipeline::PartitionStages(problem, Schedule::k1F1B);
  ASSERT_TRUE(cut.ok()) << cut.status();
  ASSERT_TRUE(cut->partition.has_value());
  EXPECT_EQ(*cut->partition, (pipeline::Partition{{0, 2, 0}, {2, 3, 0}}));
  EXPECT_EQ(cut->step, Picoseconds(180));
}

}  // namespace
}  // namespace meshwright::stages
