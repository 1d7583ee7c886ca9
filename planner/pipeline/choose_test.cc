#include "planner/pipeline/choose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "planner/pipeline/memory.h"
#include "planner/pipeline/testing/random_pipeline.h"
#include "planner/pipeline/testing/replay.h"

namespace meshwright::pipeline {
namespace {

using ::testing::ElementsAre;

PipelineProblem FourStages(bool overlap = true) {
  return MakeEqualStages(
      4, 16, {Picoseconds(10), Picoseconds(10), Picoseconds(10), 100, 1000},
      {Picoseconds(5), Picoseconds(5)}, overlap);
}

Choice Chosen(const PipelineProblem& problem,
              std::optional<Schedule> only = std::nullopt) {
  const auto choice = Choose(problem, only);
  EXPECT_TRUE(choice.ok()) << choice.status();
  return choice.ok() ? *choice : Choice{};
}

TEST(ChooseTest, TakesTheFastestThatFits) {
  PipelineProblem problem = FourStages();
  const Choice free = Chosen(problem);
  EXPECT_EQ(free.chosen->figures.schedule, Schedule::kEager1F1BDelay);
  // As much as eager-1F1B needs: the weights may not wait much.
  problem.memory_limit_bytes.assign(4, 1000 + 7 * 100);
  const Choice eager = Chosen(problem);
  EXPECT_EQ(eager.chosen->figures.schedule, Schedule::kEager1F1BDelay);
  EXPECT_LE(eager.chosen->figures.peak_bytes[0], 1700);
  EXPECT_GE(eager.chosen->figures.step, free.chosen->figures.step);
  // One activation less: stage 1 warms up as in 1F1B.
  problem.memory_limit_bytes.assign(4, 1000 + 6 * 100);
  EXPECT_EQ(Chosen(problem).chosen->figures.schedule, Schedule::k1F1B);
  // And that is the least.
  problem.memory_limit_bytes.assign(4, 1000 + 4 * 100);
  EXPECT_EQ(Chosen(problem).chosen->figures.schedule, Schedule::k1F1B);
  problem.memory_limit_bytes.assign(4, 1000 + 4 * 100 - 1);
  const Choice none = Chosen(problem);
  EXPECT_FALSE(none.chosen.has_value());
  EXPECT_THAT(none.min_bytes, ElementsAre(1400, 1300, 1200, 1100));
}

TEST(ChooseTest, LimitsArePerStage) {
  PipelineProblem problem = FourStages();
  problem.memory_limit_bytes = {1400, 1300, 1200, 1100};
  EXPECT_EQ(Chosen(problem).chosen->figures.schedule, Schedule::k1F1B);
  problem.memory_limit_bytes = {5000, 5000, 5000, 1099};
  EXPECT_FALSE(Chosen(problem).chosen.has_value());
}

TEST(ChooseTest, EqualTimesGoToTheLeastMemory) {
  PipelineProblem problem = MakeEqualStages(
      4, 16, {Picoseconds(10), Picoseconds(20), Picoseconds(0), 100, 1000},
      {Picoseconds(0), Picoseconds(0)});
  const Choice choice = Chosen(problem);
  EXPECT_EQ(choice.tried[0].step, choice.tried[1].step);
  EXPECT_EQ(choice.chosen->figures.schedule, Schedule::k1F1B);
}

TEST(ChooseTest, AskedForOneItTriesOne) {
  const Choice choice = Chosen(FourStages(), Schedule::kGpipe);
  ASSERT_EQ(choice.tried.size(), 1u);
  EXPECT_EQ(choice.chosen->figures.schedule, Schedule::kGpipe);
}

TEST(ChooseTest, NothingBeatsTheBoundAndLimitsHold) {
  for (int seed = 0; seed < 400; ++seed) {
    PipelineKind kind{.stages = 1 + seed % 6,
                      .micro_batches = 1 + seed / 6 % 9,
                      .overlap = seed % 2 == 0,
                      .longest_transfer = seed % 3 == 0 ? 60 : 4,
                      .zeros = seed % 5 == 0};
    PipelineProblem problem = RandomPipeline(seed, kind);
    const Choice free = Chosen(problem);
    for (const Figures& figures : free.tried) {
      EXPECT_LE(free.lower_bound, figures.step);
      EXPECT_LE(free.chosen->figures.step, figures.step);
    }
    problem.memory_limit_bytes.clear();
    for (const int64_t peak : free.chosen->figures.peak_bytes) {
      problem.memory_limit_bytes.push_back(std::max<int64_t>(1, peak - 20));
    }
    const Choice limited = Chosen(problem);
    if (!limited.chosen.has_value()) {
      // With what it says is needed, there is one.
      problem.memory_limit_bytes = limited.min_bytes;
      EXPECT_TRUE(Chosen(problem).chosen.has_value());
      continue;
    }
    const auto replayed = Replay(problem, limited.chosen->timeline);
    ASSERT_TRUE(replayed.ok()) << replayed.status();
    for (int i = 0; i < problem.Stages(); ++i) {
      EXPECT_LE(replayed->peak_bytes[i], problem.memory_limit_bytes[i]);
    }
  }
}

TEST(ChooseTest, AStopStillGivesEverySchedule) {
  std::stop_source stop;
  stop.request_stop();
  base::Deadline deadline;
  deadline.stop = stop.get_token();
  const auto choice = Choose(FourStages(), std::nullopt, deadline);
  ASSERT_TRUE(choice.ok());
  EXPECT_EQ(choice->tried.size(), 4u);
  EXPECT_EQ(choice->tried[3].delay.max, 0);
  EXPECT_TRUE(choice->chosen.has_value());
}

}  // namespace
}  // namespace meshwright::pipeline
