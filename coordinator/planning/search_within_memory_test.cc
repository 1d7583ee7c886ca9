#include "coordinator/planning/search_within_memory.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "coordinator/problem/peak_timeline.h"

namespace meshwright::planning {
namespace {

using problem::Config;
using problem::Picoseconds;

Config MakeConfig(int64_t picoseconds, int64_t saved, int64_t transient) {
  return {.time = Picoseconds(picoseconds),
          .saved_bytes = saved,
          .transient_bytes = transient};
}

// The first segment needs its transient when the second one holds nothing.
formulation::MeasuredProblem MakeStep(int64_t limit) {
  formulation::MeasuredProblem step;
  step.problem.types = {
      {"first", {MakeConfig(10, 20, 90), MakeConfig(30, 20, 40)}},
      {"second", {MakeConfig(10, 50, 10)}}};
  step.problem.nodes = {{.type = 0}, {.type = 1}};
  step.problem.memory_limit_bytes = limit;
  step.timeline = {{{90, 0}, {40, 0}}, {{10, 0}}};
  return step;
}

TEST(SearchWithinMemoryTest, APlanFitsByItsPeakThoughNoSumDoes) {
  const auto found = SearchWithinMemory(MakeStep(90));
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_TRUE(found->answer.plan.has_value());
  EXPECT_EQ(found->answer.plan->time, Picoseconds(40));
  EXPECT_EQ(found->answer.plan->peak_bytes, 80);
}

TEST(SearchWithinMemoryTest, WhereNoneFitsTheLeastMemoryIsAPeak) {
  const auto found = SearchWithinMemory(MakeStep(79));
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_FALSE(found->answer.plan.has_value());
  EXPECT_EQ(found->answer.least_memory_bytes, 80);
}

TEST(SearchWithinMemoryTest, ALimitBelowWhatTheSumMissesFitsNone) {
  formulation::MeasuredProblem step = MakeStep(1);
  step.timeline = {{{90, 90}, {40, 90}}, {{10, 0}}};
  const auto found = SearchWithinMemory(step);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_FALSE(found->answer.plan.has_value());
  EXPECT_GT(found->answer.least_memory_bytes, 1);
}

TEST(SearchWithinMemoryTest, RaisesTheLimitOfTheSum) {
  const auto found = SearchWithinMemory(MakeStep(130));
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_TRUE(found->answer.plan.has_value());
  EXPECT_EQ(found->answer.plan->time, Picoseconds(20));
  EXPECT_EQ(found->answer.plan->peak_bytes, 110);
  EXPECT_GE(*found->sum_limit_bytes, 160);
}

TEST(SearchWithinMemoryTest, LowersTheLimitWhereTheSumIsLessThanThePeak) {
  formulation::MeasuredProblem step = MakeStep(175);
  step.timeline = {{{90, 90}, {40, 10}}, {{10, 0}}};
  const auto found = SearchWithinMemory(step);
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_TRUE(found->answer.plan.has_value());
  EXPECT_EQ(found->answer.plan->time, Picoseconds(40));
  EXPECT_EQ(found->answer.plan->peak_bytes, 80);
}

// The fast plan has the least sum, and gradients that do not fit.
TEST(SearchWithinMemoryTest, FindsAPlanOfASmallerPeakAndALargerSum) {
  formulation::MeasuredProblem step;
  step.problem.types = {
      {"first", {MakeConfig(10, 20, 0), MakeConfig(30, 50, 0)}},
      {"second", {MakeConfig(10, 50, 10)}}};
  step.problem.nodes = {{.type = 0}, {.type = 1}};
  step.problem.memory_limit_bytes = 115;
  step.timeline = {{{0, 60}, {0, 0}}, {{10, 0}}};
  const auto found = SearchWithinMemory(step);
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_TRUE(found->answer.plan.has_value());
  EXPECT_EQ(found->answer.plan->time, Picoseconds(40));
  EXPECT_EQ(found->answer.plan->peak_bytes, 110);
}

// The plan of the least sum does not fit, and is slower than the one that does.
TEST(SearchWithinMemoryTest, TheBoundCoversAPlanWhoseSumIsBeyondTheLimit) {
  formulation::MeasuredProblem step;
  step.problem.types = {
      {"first", {MakeConfig(30, 60, 0), MakeConfig(10, 20, 90)}},
      {"second", {MakeConfig(10, 50, 10)}}};
  step.problem.nodes = {{.type = 0}, {.type = 1}};
  step.problem.memory_limit_bytes = 115;
  step.timeline = {{{0, 90}, {90, 0}}, {{10, 0}}};
  const auto found = SearchWithinMemory(step);
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_TRUE(found->answer.plan.has_value());
  EXPECT_EQ(found->answer.plan->time, Picoseconds(20));
  EXPECT_EQ(found->answer.plan->peak_bytes, 110);
  EXPECT_EQ(found->answer.lower_bound, Picoseconds(20));
  EXPECT_EQ(found->sum_limit_bytes, 160);
}

TEST(SearchWithinMemoryTest, NoPlanIsSlowerThanTheSumsAndEveryPlanFits) {
  std::mt19937_64 random(1);
  const auto draw = [&] { return static_cast<int64_t>(random() % 100); };
  int faster = 0;
  for (int round = 0; round < 300; ++round) {
    formulation::MeasuredProblem step;
    for (int n = 0; n < 4; ++n) {
      std::vector<Config> configs;
      for (int c = 0; c < 4; ++c) {
        configs.push_back(MakeConfig(draw(), draw(), draw()));
      }
      step.problem.nodes.push_back({.type = n});
      step.problem.types.push_back({"segment", configs});
      auto& timeline = step.timeline.emplace_back();
      for (const Config& it : configs) {
        timeline.push_back({.transient = it.transient_bytes});
      }
    }
    const int64_t limit = 100 + 2 * draw();
    step.problem.memory_limit_bytes = limit;
    const auto sum = search::Solve(step.problem);
    const auto found = SearchWithinMemory(step);
    ASSERT_TRUE(sum.ok() && found.ok()) << round;
    const auto& plan = found->answer.plan;
    if (sum->plan.has_value()) {
      ASSERT_TRUE(plan.has_value()) << round;
      EXPECT_LE(plan->time, sum->plan->time);
    }
    if (!plan.has_value()) continue;
    EXPECT_LE(found->answer.lower_bound, plan->time);
    EXPECT_EQ(plan->peak_bytes, formulation::FindPeakBytes(step, plan->choice));
    EXPECT_LE(plan->peak_bytes, limit);
    faster += !sum->plan.has_value() || plan->time < sum->plan->time;
  }
  EXPECT_GT(faster, 30);
}

}  // namespace
}  // namespace meshwright::planning
