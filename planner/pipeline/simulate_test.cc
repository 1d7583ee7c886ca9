#include "planner/pipeline/simulate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/pipeline/memory.h"
#include "planner/pipeline/testing/random_pipeline.h"
#include "planner/pipeline/testing/replay.h"
#include "planner/pipeline/validate.h"

namespace meshwright::pipeline {
namespace {

using ::testing::HasSubstr;

// Of everything: shapes, lengths, zeros.
std::vector<PipelineProblem> Problems(bool overlap, int seeds) {
  std::vector<PipelineProblem> problems;
  for (int seed = 0; seed < seeds; ++seed) {
    PipelineKind kind;
    kind.stages = 1 + seed % 7;
    kind.micro_batches = 1 + seed / 7 % 13;
    kind.overlap = overlap;
    kind.longest = seed % 5 == 0 ? 2 : 30;
    kind.longest_transfer = seed % 3 == 0 ? 60 : seed % 3 == 1 ? 5 : 0;
    kind.zeros = seed % 4 == 0;
    problems.push_back(RandomPipeline(seed, kind));
    EXPECT_TRUE(Validate(problems.back()).ok());
  }
  return problems;
}

Timeline Simulated(const PipelineProblem& problem, Schedule schedule,
                   const WeightDelay& delay = {}) {
  const auto timeline = Simulate(
      problem, MakeOrders(schedule, problem.Stages(), problem.micro_batches),
      delay);
  EXPECT_TRUE(timeline.ok()) << timeline.status();
  return timeline.ok() ? *timeline : Timeline{};
}

void ExpectKeepsTheRules(const PipelineProblem& problem,
                         const Timeline& timeline) {
  const auto replayed = Replay(problem, timeline);
  ASSERT_TRUE(replayed.ok()) << replayed.status();
  EXPECT_EQ(replayed->step, timeline.step);
  EXPECT_EQ(replayed->peak_bytes, ComputePeakBytes(problem, timeline));
}

TEST(SimulateTest, EveryTimelineKeepsTheRules) {
  for (const bool overlap : {true, false}) {
    for (const PipelineProblem& problem : Problems(overlap, 700)) {
      for (const Schedule schedule : kSchedules) {
        ExpectKeepsTheRules(problem, Simulated(problem, schedule));
      }
      for (const int max : {1, 2, 5, 100}) {
        for (const bool yields : {false, true}) {
          ExpectKeepsTheRules(problem,
                              Simulated(problem, Schedule::kEager1F1BDelay,
                                        {.max = max, .yields = yields}));
        }
      }
    }
  }
}

// Each stage runs its operations in its order.
TEST(SimulateTest, StagesKeepTheirOrders) {
  for (const PipelineProblem& problem : Problems(false, 100)) {
    for (const Schedule schedule : kSchedules) {
      const StageOrders orders =
          MakeOrders(schedule, problem.Stages(), problem.micro_batches);
      const Timeline timeline = Simulated(problem, schedule, {.max = 3});
      for (int stage = 0; stage < problem.Stages(); ++stage) {
        std::vector<Operation> ran;
        for (const Span& span : timeline.stages[stage]) {
          if (span.operation.kind != OperationKind::kBackwardWeight) {
            ran.push_back(span.operation);
          }
        }
        EXPECT_EQ(ran, orders[stage]);
      }
    }
  }
}

// With overlap nothing is chosen but the weights' places: every operation
// starts at the first moment its stage and its input allow.
TEST(SimulateTest, NothingWaitsWithoutReason) {
  for (const PipelineProblem& problem : Problems(true, 300)) {
    for (const Schedule schedule :
         {Schedule::kGpipe, Schedule::k1F1B, Schedule::kEager1F1B}) {
      const Timeline timeline = Simulated(problem, schedule);
      for (int stage = 0; stage < problem.Stages(); ++stage) {
        Picoseconds free{0};
        for (const Span& span : timeline.stages[stage]) {
          const bool forward = span.operation.kind == OperationKind::kForward;
          Picoseconds arrival{0};
          const int link = forward ? stage - 1 : stage;
          if (link >= 0 && link + 1 < problem.Stages()) {
            for (const Delivery& delivery :
                 forward ? timeline.forward_links[link]
                         : timeline.backward_links[link]) {
              if (delivery.micro_batch == span.operation.micro_batch) {
                arrival = delivery.end;
              }
            }
          }
          EXPECT_EQ(span.start, std::max(free, arrival));
          free = span.end;
        }
      }
    }
  }
}

// Waiting weights never slow the way of the others down where communication
// overlaps, the backward is only split and that costs nothing.
TEST(SimulateTest, SplittingTheBackwardIsNeverSlower) {
  for (PipelineProblem problem : Problems(true, 500)) {
    for (Stage& stage : problem.stages) stage.backward.reset();
    EXPECT_LE(Simulated(problem, Schedule::kEager1F1BDelay).step,
              Simulated(problem, Schedule::kEager1F1B).step);
  }
}

TEST(SimulateTest, WaitingWeightsGiveWayToTheMemoryLimit) {
  int tighter = 0;
  for (PipelineProblem problem : Problems(true, 400)) {
    const auto min_bytes = ComputePeakBytes(
        problem, Simulated(problem, Schedule::kEager1F1BDelay));
    const auto max_bytes = ComputePeakBytes(
        problem, Simulated(problem, Schedule::kEager1F1BDelay, {.max = 100}));
    problem.memory_limit_bytes = min_bytes;
    const Timeline limited =
        Simulated(problem, Schedule::kEager1F1BDelay, {.max = 100});
    ExpectKeepsTheRules(problem, limited);
    EXPECT_EQ(ComputePeakBytes(problem, limited), min_bytes);
    tighter += min_bytes < max_bytes;
  }
  EXPECT_GT(tighter, 50);
}

// A stage that waits to send computes nothing, one that is sent to neither.
TEST(SimulateTest, WithoutOverlapTheStagesTakePart) {
  const PipelineProblem problem =
      MakeEqualStages(2, 2, {Picoseconds(10), Picoseconds(5), Picoseconds(5)},
                      {Picoseconds(3), Picoseconds(4)}, false);
  const Timeline timeline = Simulated(problem, Schedule::k1F1B);
  const auto times = [](const auto& spans) {
    std::vector<std::pair<int64_t, int64_t>> times;
    for (const auto& span : spans) {
      times.emplace_back(span.start.count(), span.end.count());
    }
    return times;
  };
  using Times = std::vector<std::pair<int64_t, int64_t>>;
  EXPECT_EQ(times(timeline.stages[0]),
            (Times{{0, 10}, {13, 23}, {40, 50}, {64, 74}}));
  EXPECT_EQ(times(timeline.stages[1]),
            (Times{{13, 23}, {26, 36}, {40, 50}, {50, 60}}));
  EXPECT_EQ(times(timeline.forward_links[0]), (Times{{10, 13}, {23, 26}}));
  EXPECT_EQ(times(timeline.backward_links[0]), (Times{{36, 40}, {60, 64}}));
  EXPECT_EQ(FindStageEnd(problem, timeline, 0), Picoseconds(74));
  EXPECT_EQ(FindStageEnd(problem, timeline, 1), Picoseconds(64));
}

TEST(SimulateTest, WithOverlapAStageEndsWithItsLastPass) {
  const PipelineProblem problem =
      MakeEqualStages(2, 2, {Picoseconds(10), Picoseconds(5), Picoseconds(5)},
                      {Picoseconds(3), Picoseconds(4)}, true);
  const Timeline timeline = Simulated(problem, Schedule::k1F1B);
  for (size_t stage = 0; stage < 2; ++stage) {
    EXPECT_EQ(FindStageEnd(problem, timeline, stage),
              timeline.stages[stage].back().end);
  }
}

TEST(SimulateTest, OrdersThatAreNone) {
  const PipelineProblem problem = MakeEqualStages(
      2, 2, {Picoseconds(1), Picoseconds(1), Picoseconds(1)}, {}, true);
  const StageOrders good = MakeOrders(Schedule::k1F1B, 2, 2);
  const auto refusal = [&](const StageOrders& orders) {
    const auto timeline = Simulate(problem, orders);
    EXPECT_EQ(timeline.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(timeline.status().message());
  };
  EXPECT_THAT(refusal({}), HasSubstr("of 0 stages for 2"));
  StageOrders orders = good;
  orders[1].pop_back();
  EXPECT_THAT(refusal(orders), HasSubstr("stage 2 leaves out"));
  orders = good;
  orders[0][1] = orders[0][0];
  EXPECT_THAT(refusal(orders), HasSubstr("F_0 where it cannot be"));
  orders = good;
  std::swap(orders[1][0], orders[1][1]);
  EXPECT_THAT(refusal(orders), HasSubstr("B_0 where it cannot be"));
  // Stage 1 wants the gradient of 0 before it makes 1; stage 2 begins with 1.
  orders[0] = {{OperationKind::kForward, 0},
               {OperationKind::kBackward, 0},
               {OperationKind::kForward, 1},
               {OperationKind::kBackward, 1}};
  orders[1] = {{OperationKind::kForward, 1},
               {OperationKind::kForward, 0},
               {OperationKind::kBackward, 0},
               {OperationKind::kBackward, 1}};
  EXPECT_THAT(refusal(orders), HasSubstr("wait for each other: stage 1"));
}

TEST(ReplayTest, NoticesWhatIsBroken) {
  const PipelineProblem problem =
      MakeEqualStages(2, 3, {Picoseconds(4), Picoseconds(3), Picoseconds(2)},
                      {Picoseconds(2), Picoseconds(2)}, false);
  const Timeline good =
      Simulated(problem, Schedule::kEager1F1BDelay, {.max = 1});
  ASSERT_TRUE(Replay(problem, good).ok());
  const auto verdict = [&](const Timeline& timeline) {
    return std::string(Replay(problem, timeline).status().message());
  };
  Timeline bad = good;
  bad.stages[0].pop_back();
  EXPECT_THAT(verdict(bad), HasSubstr("lacks a pass"));
  bad = good;
  bad.stages[0].push_back(bad.stages[0].back());
  EXPECT_THAT(verdict(bad), HasSubstr("runs twice"));
  bad = good;
  bad.stages[1][0].end += Picoseconds(1);
  EXPECT_THAT(verdict(bad), HasSubstr("wrong time"));
  bad = good;
  for (Span* span : {&bad.stages[0][1], &bad.stages[0][2]}) {
    span->start -= Picoseconds(2);
    span->end -= Picoseconds(2);
  }
  EXPECT_THAT(verdict(bad), HasSubstr("overlap on stage 1"));
  bad = good;
  bad.forward_links[0][0].start -= Picoseconds(1);
  bad.forward_links[0][0].end -= Picoseconds(1);
  EXPECT_THAT(verdict(bad), HasSubstr("starts before F_0 of stage 1"));
  bad = good;
  bad.stages[0].push_back(
      {{OperationKind::kBackward, 7}, bad.step, bad.step + Picoseconds(5)});
  EXPECT_THAT(verdict(bad), HasSubstr("once too often"));
}

TEST(SimulateTest, BothGradientsAsOneTakeTheirOwnTime) {
  PipelineProblem problem = MakeEqualStages(
      1, 5, {Picoseconds(4), Picoseconds(3), Picoseconds(7)}, {}, true);
  problem.stages[0].backward = Picoseconds(8);
  EXPECT_EQ(Simulated(problem, Schedule::k1F1B).step, Picoseconds(5 * 12));
  EXPECT_EQ(Simulated(problem, Schedule::kEager1F1BDelay).step,
            Picoseconds(5 * 14));
}

TEST(MemoryTest, LevelsFollowTheTimeline) {
  PipelineProblem problem = MakeEqualStages(
      1, 2, {Picoseconds(4), Picoseconds(3), Picoseconds(2), 10, 100, 6}, {},
      true);
  const Timeline timeline = Simulated(problem, Schedule::kEager1F1BDelay);
  std::vector<std::pair<int64_t, int64_t>> levels;
  const auto stages = ComputeMemoryOverTime(problem, timeline);
  for (const MemoryLevel& level : stages[0]) {
    levels.emplace_back(level.time.count(), level.bytes);
  }
  EXPECT_THAT(levels,
              testing::ElementsAre(std::pair(0, 100), std::pair(0, 110),
                                   std::pair(7, 106), std::pair(9, 100),
                                   std::pair(9, 110), std::pair(16, 106),
                                   std::pair(18, 100)));
}

}  // namespace
}  // namespace meshwright::pipeline
