#include "coordinator/problem/peak_timeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "planner/problem/evaluate.h"

namespace meshwright::formulation {
namespace {

using problem::Choice;
using problem::Config;

// One node for each segment, and its only plan.
MeasuredProblem MakeStep(const std::vector<Config>& segments) {
  MeasuredProblem step;
  for (const Config& it : segments) {
    const int type = static_cast<int>(step.problem.types.size());
    step.problem.nodes.push_back({.type = type});
    step.problem.types.push_back({.name = "segment", .configs = {it}});
    step.timeline.push_back({{.transient = it.transient_bytes}});
  }
  return step;
}

Config Bytes(int64_t persistent, int64_t saved, int64_t transient) {
  return {.persistent_bytes = persistent,
          .saved_bytes = saved,
          .transient_bytes = transient};
}

int64_t FindPeak(const std::vector<Config>& segments) {
  return FindPeakBytes(MakeStep(segments), Choice(segments.size(), {0}));
}

TEST(PeakTimelineTest, OneSegmentHoldsAllOfItself) {
  EXPECT_EQ(FindPeak({Bytes(100, 20, 3)}), 123);
}

TEST(PeakTimelineTest, SegmentsBehindTheRunningOneHoldNothing) {
  EXPECT_EQ(FindPeak({Bytes(100, 20, 90), Bytes(200, 50, 3)}), 410);
  EXPECT_EQ(FindPeak({Bytes(100, 20, 3), Bytes(200, 50, 90)}), 460);
}

TEST(PeakTimelineTest, CopiesOfANodeComeOneAfterTheOther) {
  MeasuredProblem step = MakeStep({Bytes(1, 10, 0)});
  step.problem.nodes[0].repeat = 3;
  step.problem.types[0].configs.push_back(Bytes(1, 5, 40));
  step.timeline[0].push_back({.transient = 40});
  EXPECT_EQ(FindPeakBytes(step, {{1, 0, 0}}), 3 + 45);
  EXPECT_EQ(FindPeakBytes(step, {{0, 0, 1}}), 3 + 65);
}

TEST(PeakTimelineTest, TheMergedAllReduceHoldsAllGradientsTwice) {
  MeasuredProblem step = MakeStep({Bytes(100, 20, 90), Bytes(200, 50, 3)});
  step.timeline[0][0].reduced = 30;
  step.timeline[1][0].reduced = 20;
  EXPECT_EQ(FindPeakBytes(step, {{0}, {0}}), 410);
  step.timeline[1][0].reduced = 40;
  EXPECT_EQ(FindPeakBytes(step, {{0}, {0}}), 440);
}

TEST(PeakTimelineTest, CopiesOfWhatIsUpdatedAreGoneWhenGradientsMeet) {
  MeasuredProblem step = MakeStep({Bytes(100, 20, 90), Bytes(200, 50, 3)});
  step.timeline[0][0].reduced = 30;
  step.timeline[1][0].reduced = 40;
  step.timeline[1][0].copied = 10;
  EXPECT_EQ(FindPeakBytes(step, {{0}, {0}}), 430);
  step.timeline[1][0].copied = 100;
  EXPECT_EQ(FindPeakBytes(step, {{0}, {0}}), 410);
}

TEST(PeakTimelineTest, IsBetweenEachSegmentsNeedAndTheSumOfTheSearch) {
  std::mt19937_64 random(1);
  const auto draw = [&] { return static_cast<int64_t>(random() % 1000); };
  for (int round = 0; round < 500; ++round) {
    std::vector<Config> segments;
    int64_t persistent = 0;
    int64_t saved = 0;
    for (size_t count = 1 + random() % 6; segments.size() < count;) {
      segments.push_back(Bytes(draw(), draw(), draw()));
      persistent += segments.back().persistent_bytes;
      saved += segments.back().saved_bytes;
    }
    const MeasuredProblem step = MakeStep(segments);
    const Choice choice(segments.size(), {0});
    const int64_t peak = FindPeakBytes(step, choice);
    EXPECT_LE(peak, problem::Evaluate(step.problem, choice)->peak_bytes);
    EXPECT_GE(peak, persistent + saved);
    for (const Config& it : segments) {
      EXPECT_GE(peak, persistent + it.saved_bytes + it.transient_bytes);
    }
  }
}

}  // namespace
}  // namespace meshwright::formulation
