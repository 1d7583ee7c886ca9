#include "planner/pipeline/partition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "planner/pipeline/choose_stages.h"
#include "planner/pipeline/orders.h"
#include "planner/pipeline/testing/partition_exhaustive.h"
#include "planner/pipeline/testing/replay.h"

namespace meshwright::pipeline {
namespace {

// The step of stages by the formula of partition.h, whatever their memory.
Picoseconds StepByFormula(const PipelineProblem& stages) {
  Picoseconds sum{0};
  Picoseconds slowest{0};
  const auto both = [&](int link) {
    return link < 0 || link + 1 >= stages.Stages()
               ? Picoseconds(0)
               : stages.transfers[link].forward +
                     stages.transfers[link].backward;
  };
  for (int i = 0; i < stages.Stages(); ++i) {
    const Picoseconds time =
        stages.stages[i].forward + stages.stages[i].Backward();
    sum += time + both(i);
    slowest =
        std::max(slowest, stages.overlap ? time : time + both(i - 1) + both(i));
    if (stages.overlap && i + 1 < stages.Stages()) {
      slowest = std::max(
          {slowest, stages.transfers[i].forward, stages.transfers[i].backward});
    }
  }
  return sum + (stages.micro_batches - 1) * slowest;
}

using ::testing::HasSubstr;

// 1,024 segments whose costs nobody may ask for.
PartitionProblem MakeUnknownCosts() {
  PartitionProblem problem;
  problem.meshes.push_back({"1x1", 1});
  problem.devices = 8;
  problem.micro_batches = 16;
  problem.boundaries.resize(1023);
  problem.stage_costs = [](const StageOnMesh&, int) {
    ADD_FAILURE() << "a cost is asked for";
    return std::optional<Stage>();
  };
  return problem;
}

TEST(CheckPartitionTest, SaysWhatIsTooLargeWithoutCosts) {
  PartitionProblem problem = MakeUnknownCosts();
  const auto check = [&] { return CheckPartition(problem, Schedule::kGpipe); };
  EXPECT_TRUE(check().ok()) << check();
  problem.micro_batches = 4096;
  EXPECT_THAT(std::string(check().message()),
              HasSubstr("micro_batches is 4096; with 1024 segments at most"));
  problem.micro_batches = 16;
  problem.meshes.resize(65, {"1x1", 1});
  EXPECT_THAT(std::string(check().message()), HasSubstr("65 entries"));
  problem.meshes.resize(64);
  EXPECT_EQ(check().code(), absl::StatusCode::kOutOfRange);
}

PartitionAnswer Answered(const PartitionProblem& problem, Schedule schedule) {
  const auto answer = PartitionStages(problem, schedule);
  EXPECT_TRUE(answer.ok()) << answer.status();
  return answer.ok() ? *answer : PartitionAnswer{};
}

// Covers the segments, has the devices and the memory, and takes what it says.
void ExpectValid(const PartitionProblem& problem, Schedule schedule,
                 const PartitionAnswer& answer) {
  int segment = 0;
  int64_t devices = 0;
  for (const StageOnMesh& stage : *answer.partition) {
    EXPECT_EQ(stage.first, segment);
    EXPECT_GT(stage.end, segment);
    segment = stage.end;
    devices += problem.meshes[stage.mesh].devices;
  }
  EXPECT_EQ(segment, problem.Segments());
  EXPECT_LE(devices, problem.devices);
  const PipelineProblem stages =
      MakeStages(problem, *answer.partition, schedule);
  EXPECT_EQ(StepByFormula(stages), answer.step);
  for (int i = 0; i < stages.Stages(); ++i) {
    const Stage& stage = stages.stages[i];
    EXPECT_LE(stage.persistent_bytes +
                  stage.activation_bytes *
                      WarmUpForwards(schedule, stages.Stages() - i,
                                     problem.micro_batches),
              problem.memory_limit_bytes.value_or(int64_t{1} << 60));
  }
}

std::vector<PartitionProblem> Problems(int seeds) {
  std::vector<PartitionProblem> problems;
  for (int seed = 0; seed < seeds; ++seed) {
    problems.push_back(RandomPartition(
        seed, {.segments = 1 + seed % 7,
               .meshes = 1 + seed / 7 % 4,
               .devices = 8 + seed % 3 * 3,
               .micro_batches = seed % 5 == 0 ? 1 : 1 + seed % 30,
               .overlap = seed % 2 == 0,
               .longest = seed % 4 == 0 ? 5 : 10'000,
               .gaps = seed % 3 == 0,
               .tables = seed % 2 == seed / 20 % 2}));
  }
  return problems;
}

TEST(PartitionTest, IsOptimal) {
  int several = 0;
  for (const PartitionProblem& problem : Problems(600)) {
    const auto oracle = PartitionExhaustively(problem, Schedule::k1F1B);
    const PartitionAnswer answer = Answered(problem, Schedule::k1F1B);
    ASSERT_EQ(answer.partition.has_value(), oracle.step.has_value());
    if (!oracle.step.has_value()) continue;
    EXPECT_EQ(answer.step, *oracle.step);
    EXPECT_TRUE(answer.Optimal());
    ExpectValid(problem, Schedule::k1F1B, answer);
    several += answer.partition->size() > 1;
  }
  EXPECT_GT(several, 200);
}

TEST(PartitionTest, IsOptimalUnderEveryMemoryLimit) {
  int infeasible = 0;
  int slower = 0;
  for (PartitionProblem problem : Problems(400)) {
    for (const Schedule schedule : kSchedules) {
      problem.memory_limit_bytes.reset();
      const auto free = PartitionExhaustively(problem, schedule);
      if (!free.step.has_value()) continue;
      for (const int64_t more : {-1, 0, 50, 300}) {
        problem.memory_limit_bytes =
            std::max<int64_t>(1, *free.min_bytes + more);
        const auto oracle = PartitionExhaustively(problem, schedule);
        const PartitionAnswer answer = Answered(problem, schedule);
        ASSERT_EQ(answer.partition.has_value(), oracle.step.has_value());
        if (!oracle.step.has_value()) {
          EXPECT_EQ(answer.min_bytes, oracle.min_bytes);
          ++infeasible;
          continue;
        }
        EXPECT_EQ(answer.step, *oracle.step);
        EXPECT_TRUE(answer.Optimal());
        ExpectValid(problem, schedule, answer);
        slower += answer.step > *free.step;
      }
    }
  }
  EXPECT_GT(infeasible, 500);
  EXPECT_GT(slower, 500);
}

// Equal segments on as many devices: as many equal stages, in whose step the
// formula and the simulation agree.
TEST(PartitionTest, EqualSegmentsMakeEqualStages) {
  PartitionProblem problem;
  problem.meshes = {{"1", 1}, {"2", 2}, {"4", 4}};
  problem.devices = 4;
  problem.micro_batches = 32;
  for (int i = 0; i < 8; ++i) {
    auto& costs = problem.segments.emplace_back();
    for (const int64_t time : {100, 60, 40}) {
      costs.push_back(
          Stage{Picoseconds(time), Picoseconds(time), Picoseconds(time)});
    }
  }
  problem.boundaries.assign(7, {Picoseconds(0), Picoseconds(0)});
  const PartitionAnswer answer = Answered(problem, Schedule::k1F1B);
  EXPECT_EQ(*answer.partition,
            (Partition{{0, 2, 0}, {2, 4, 0}, {4, 6, 0}, {6, 8, 0}}));
  EXPECT_EQ(answer.step, Picoseconds((32 + 3) * 600));
  const auto choice = ChooseStages(problem, Schedule::k1F1B);
  ASSERT_TRUE(choice.ok());
  EXPECT_EQ(choice->chosen->choice.chosen->figures.step, answer.step);
}

TEST(PartitionTest, AStopGivesWhatThereIsWithABound) {
  std::stop_source stop;
  stop.request_stop();
  base::Deadline deadline;
  deadline.stop = stop.get_token();
  int open = 0;
  for (const PartitionProblem& problem : Problems(300)) {
    const PartitionAnswer exact = Answered(problem, Schedule::k1F1B);
    const auto stopped = PartitionStages(problem, Schedule::k1F1B, deadline);
    ASSERT_TRUE(stopped.ok()) << stopped.status();
    ASSERT_EQ(stopped->partition.has_value(), exact.partition.has_value());
    if (!exact.partition.has_value()) continue;
    EXPECT_LE(stopped->lower_bound, exact.step);
    EXPECT_GE(stopped->step, exact.step);
    open += !stopped->Optimal();
  }
  EXPECT_GT(open, 50);
}

TEST(PartitionTest, AStopBeforeTheFirstProgramGivesOneStage) {
  std::stop_source stop;
  stop.request_stop();
  base::Deadline deadline;
  deadline.stop = stop.get_token();
  PartitionProblem problem =
      RandomPartition(3, {.segments = 400, .meshes = 8, .devices = 512});
  const auto one = PartitionStages(problem, Schedule::k1F1B, deadline);
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_EQ(one->partition->size(), 1u);
  EXPECT_EQ(
      StepByFormula(MakeStages(problem, *one->partition, Schedule::k1F1B)),
      one->step);
  EXPECT_LT(one->lower_bound, one->step);
  problem.memory_limit_bytes = 1;
  EXPECT_EQ(PartitionStages(problem, Schedule::k1F1B, deadline).status().code(),
            absl::StatusCode::kDeadlineExceeded);
}

TEST(ChooseStagesTest, TakesTheFastestSimulatedThatFits) {
  int infeasible = 0;
  for (PartitionProblem problem : Problems(400)) {
    if (problem.stage_costs) continue;  // holding more may take less there
    problem.memory_limit_bytes.reset();
    const auto free = ChooseStages(problem);
    ASSERT_TRUE(free.ok()) << free.status();
    const auto one = PartitionExhaustively(problem, Schedule::k1F1B);
    if (!one.step.has_value()) {
      EXPECT_FALSE(free->chosen.has_value());
      EXPECT_FALSE(free->min_bytes.has_value());
      continue;
    }
    for (const int64_t more : {-1, 0, 200}) {
      problem.memory_limit_bytes = std::max<int64_t>(1, *one.min_bytes + more);
      const auto limited = ChooseStages(problem);
      ASSERT_TRUE(limited.ok()) << limited.status();
      if (!limited->chosen.has_value()) {
        // 1F1B holds the least of all.
        EXPECT_EQ(limited->min_bytes, one.min_bytes);
        ++infeasible;
        continue;
      }
      const auto& chosen = *limited->chosen;
      ASSERT_TRUE(chosen.choice.chosen.has_value());
      const auto replayed =
          Replay(chosen.stages, chosen.choice.chosen->timeline);
      ASSERT_TRUE(replayed.ok()) << replayed.status();
      for (const int64_t peak : replayed->peak_bytes) {
        EXPECT_LE(peak, *problem.memory_limit_bytes);
      }
    }
  }
  EXPECT_GT(infeasible, 100);
}

// Where a stage that is planned as a whole is cheaper than its segments alone,
// fewer are made.
TEST(PartitionTest, AStageNeedNotBeASum) {
  PartitionProblem problem;
  problem.meshes = {{"1", 1}};
  problem.devices = 4;
  problem.micro_batches = 4;
  problem.boundaries.assign(3, {Picoseconds(0), Picoseconds(0)});
  int64_t joint = 50;
  problem.stage_costs = [&joint](const StageOnMesh& stage,
                                 int held) -> std::optional<Stage> {
    EXPECT_EQ(held, 1);
    // No boundary behind the third segment.
    if (stage.first == 3 || stage.end == 3) return std::nullopt;
    return Stage{Picoseconds(stage.end - stage.first == 4 ? joint : 100)};
  };
  EXPECT_EQ(Answered(problem, Schedule::k1F1B).partition,
            (Partition{{0, 4, 0}}));
  joint = 1000;
  const PartitionAnswer cut = Answered(problem, Schedule::k1F1B);
  EXPECT_EQ(cut.step, Picoseconds(2 * 100 + 3 * 100));
  EXPECT_EQ(cut.partition->size(), 2u);
}

TEST(PartitionProblemTest, SaysWhatIsWrong) {
  const PartitionProblem good = RandomPartition(1, {});
  ASSERT_TRUE(Validate(good).ok());
  const auto refusal = [&](auto change) {
    PartitionProblem problem = good;
    change(problem);
    const auto answer = PartitionStages(problem, Schedule::k1F1B);
    EXPECT_EQ(answer.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(answer.status().message());
  };
  using Problem = PartitionProblem;
  EXPECT_THAT(refusal([](Problem& p) { p.segments.clear(); }),
              HasSubstr("segments is empty"));
  EXPECT_THAT(refusal([](Problem& p) { p.meshes.clear(); }),
              HasSubstr("meshes is empty"));
  EXPECT_THAT(refusal([](Problem& p) { p.devices = 0; }),
              HasSubstr("devices is 0"));
  EXPECT_THAT(refusal([](Problem& p) { p.meshes[1].devices = 0; }),
              HasSubstr("meshes[1].devices is 0"));
  EXPECT_THAT(refusal([](Problem& p) {
                for (MeshShape& mesh : p.meshes) mesh.devices = 9;
              }),
              HasSubstr("more than the 8 devices"));
  EXPECT_THAT(refusal([](Problem& p) { p.boundaries.pop_back(); }),
              HasSubstr("boundaries has 3 entries; 5 segments have 4"));
  EXPECT_THAT(refusal([](Problem& p) { p.segments[2].pop_back(); }),
              HasSubstr("segments[2].on has 2 entries and meshes 3"));
  EXPECT_THAT(
      refusal([](Problem& p) { p.segments[2].assign(3, std::nullopt); }),
      HasSubstr("segments[2].on has no costs"));
  EXPECT_THAT(refusal([](Problem& p) { p.micro_batches = 0; }),
              HasSubstr("micro_batches is 0"));
  EXPECT_THAT(refusal([](Problem& p) { p.memory_limit_bytes = 0; }),
              HasSubstr("memory_limit_bytes is 0"));
  EXPECT_THAT(refusal([](Problem& p) {
                p.segments[0][0]->forward = problem::kMaxTime;
              }),
              HasSubstr("give shorter times"));
  const auto costs = [](Stage stage) {
    return [stage](const StageOnMesh&, int) { return stage; };
  };
  EXPECT_THAT(refusal([&](Problem& p) { p.stage_costs = costs({}); }),
              HasSubstr("both given"));
  EXPECT_THAT(refusal([&](Problem& p) {
                p.segments.clear();
                p.stage_costs = costs({Picoseconds(-1)});
              }),
              HasSubstr("the stage of segments 0 to 0"));
  EXPECT_THAT(refusal([&](Problem& p) {
                p.segments.clear();
                p.stage_costs = costs({problem::kMaxTime});
              }),
              HasSubstr("give shorter times"));
}

}  // namespace
}  // namespace meshwright::pipeline
