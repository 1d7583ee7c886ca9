#include "coordinator/report/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "coordinator/report/testing/plans.h"

namespace meshwright::report {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

// Where lanes end, and that their slices do not overlap.
double CheckLanes(const Timeline& timeline) {
  double last = 0;
  for (const DeviceGroup& group : timeline.groups) {
    for (const Lane& lane : group.lanes) {
      double end = 0;
      for (const Slice& slice : lane.slices) {
        EXPECT_GE(slice.start_seconds, end - 1e-12) << slice.name;
        EXPECT_GT(slice.seconds, 0) << slice.name;
        end = slice.start_seconds + slice.seconds;
      }
      last = std::max(last, end);
    }
  }
  return last;
}

int64_t FindFullest(const std::vector<MemoryLevel>& memory) {
  int64_t fullest = 0;
  for (const MemoryLevel& it : memory) fullest = std::max(fullest, it.bytes);
  return fullest;
}

double SumLane(const Timeline& timeline, int lane) {
  double sum = 0;
  for (const Slice& it : timeline.groups[0].lanes[lane].slices) {
    sum += it.seconds;
  }
  return sum;
}

TEST(Timeline, WithoutABasisSegmentsStandInTheirOrder) {
  const v1::Plan plan = MakeMeshPlan();
  const auto timeline = PredictTimeline(plan, nullptr);
  ASSERT_TRUE(timeline.ok()) << timeline.status();
  EXPECT_NEAR(CheckLanes(*timeline), plan.predicted().step_seconds(), 1e-12);
  EXPECT_NEAR(SumLane(*timeline, 0), plan.predicted().compute_seconds(), 1e-12);
  EXPECT_NEAR(SumLane(*timeline, 1), plan.predicted().communication_seconds(),
              1e-12);
  EXPECT_THAT(timeline->groups[0].devices, ElementsAre(0, 1));
  EXPECT_TRUE(timeline->groups[0].memory.empty());
}

TEST(Timeline, WithABasisPassesRunForwardAndBackward) {
  const v1::Plan plan = MakeMeshPlan();
  const explain::PlanBasis basis = MakeBasis(plan);
  const auto timeline = PredictTimeline(plan, &basis);
  ASSERT_TRUE(timeline.ok()) << timeline.status();
  EXPECT_NEAR(CheckLanes(*timeline), plan.predicted().step_seconds(), 1e-12);
  std::vector<std::string> names;
  for (const Slice& it : timeline->groups[0].lanes[0].slices) {
    names.push_back(it.name);
  }
  EXPECT_THAT(names,
              ElementsAre("forward of segment 0", "forward of segment 1",
                          "forward of segment 2", "backward of segment 2",
                          "backward of segment 1", "backward of segment 0",
                          "update of segment 2", "update of segment 1",
                          "update of segment 0"));
  // What the forward pass saves the backward pass frees.
  const std::vector<MemoryLevel>& memory = timeline->groups[0].memory;
  EXPECT_EQ(memory.front().bytes, 3 * 100);
  EXPECT_EQ(memory.back().bytes, memory.front().bytes);
  EXPECT_EQ(FindFullest(memory), 3 * 100 + 3 * 10 + 1);
  EXPECT_EQ(FindFullest(memory), basis.peak_bytes);
}

TEST(Timeline, GradientsMeetBehindTheLastBackwardPass) {
  const v1::Plan plan = MakeMeshPlan();
  explain::PlanBasis basis = MakeBasis(plan);
  basis.reducing_bytes = 1000;
  basis.peak_bytes = 1000;
  const auto timeline = PredictTimeline(plan, &basis);
  ASSERT_TRUE(timeline.ok()) << timeline.status();
  const std::vector<MemoryLevel>& memory = timeline->groups[0].memory;
  EXPECT_EQ(FindFullest(memory), basis.peak_bytes);
  EXPECT_EQ(memory.back().bytes, memory.front().bytes);
  const MemoryLevel& meeting = memory[memory.size() - 2];
  EXPECT_EQ(meeting.bytes, 1000);
  EXPECT_LT(meeting.seconds, memory.back().seconds);
  for (const Slice& it : timeline->groups[0].lanes[0].slices) {
    if (it.kind != "backward") continue;
    EXPECT_LE(it.start_seconds + it.seconds, meeting.seconds + 1e-12);
  }
}

TEST(Timeline, StagesRunTheScheduleOfThePlan) {
  const v1::Plan plan = MakeStagedPlan();
  const auto timeline = PredictTimeline(plan, nullptr);
  ASSERT_TRUE(timeline.ok()) << timeline.status();
  EXPECT_THAT(CheckLanes(*timeline), DoubleNear(timeline->step_seconds, 1e-12));
  ASSERT_EQ(timeline->groups.size(), 2u);
  EXPECT_EQ(timeline->groups[0].name, "stage 1");
  EXPECT_EQ(timeline->groups[0].lanes.back().name, "transfers to stage 2");
  EXPECT_EQ(timeline->groups[1].lanes.back().name, "transfers to stage 1");
  // Two passes of every micro-batch, and the update.
  EXPECT_EQ(timeline->groups[0].lanes[0].slices.size(), 2u * 4 + 1);
  // A quarter of a stage's time is collectives.
  EXPECT_NEAR(SumLane(*timeline, 1), SumLane(*timeline, 0) / 3, 1e-12);
  EXPECT_FALSE(timeline->groups[0].memory.empty());
}

TEST(Timeline, AMeasuredStepOnAMeshIsOneSlice) {
  v1::ValidationReport validation;
  validation.set_chosen("chosen");
  v1::ValidatedPlan& baseline = *validation.add_plans();
  baseline.set_name("dp");
  baseline.set_measured_seconds(9);
  v1::ValidatedPlan& own = *validation.add_plans();
  own.set_name("chosen");
  EXPECT_TRUE(absl::IsNotFound(
      MakeMeasuredTimeline(MakeMeshPlan(), validation).status()));
  own.set_measured_seconds(0.5);
  const auto timeline = MakeMeasuredTimeline(MakeMeshPlan(), validation);
  ASSERT_TRUE(timeline.ok()) << timeline.status();
  EXPECT_DOUBLE_EQ(timeline->step_seconds, 0.5);
  EXPECT_DOUBLE_EQ(SumLane(*timeline, 0), 0.5);
}

TEST(Timeline, MeasuredPassesOfStagesRunTheSameSchedule) {
  const v1::Plan plan = MakeStagedPlan();
  const auto predicted = PredictTimeline(plan, nullptr);
  const v1::StagedValidationReport twice = MakeStagedValidation(plan, 2);
  const auto timeline = MakeMeasuredTimeline(plan, twice);
  ASSERT_TRUE(timeline.ok()) << timeline.status();
  EXPECT_NEAR(SumLane(*timeline, 0), 2 * SumLane(*predicted, 0), 1e-12);
  EXPECT_GT(timeline->step_seconds, predicted->step_seconds);
}

TEST(Timeline, AValidationOfOtherStagesIsRefused) {
  v1::StagedValidationReport other = MakeStagedValidation(MakeStagedPlan(), 1);
  other.mutable_stages()->RemoveLast();
  const auto timeline = MakeMeasuredTimeline(MakeStagedPlan(), other);
  EXPECT_EQ(timeline.status().message(),
            "the validation is of 1 stages and the plan has 2");
}

}  // namespace
}  // namespace meshwright::report
