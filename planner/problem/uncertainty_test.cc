#include "planner/problem/uncertainty.h"

#include <gtest/gtest.h>

#include <cmath>

namespace meshwright::problem {
namespace {

NoiseInterval Within(int64_t both) {
  return {Picoseconds(both), Picoseconds(both)};
}

// Three layers of two configurations and a head.
PlanProblem MakeNoisyChain() {
  PlanProblem problem;
  problem.types = {{"layer", {{}, {}}}, {"head", {{}}}};
  problem.types[0].configs[0] = {.time = Picoseconds(1000),
                                 .noise = Within(30)};
  problem.types[0].configs[1] = {.time = Picoseconds(2000),
                                 .noise = Within(40)};
  problem.types[1].configs[0] = {.time = Picoseconds(500),
                                 .noise = {Picoseconds(5), Picoseconds(12)}};
  problem.nodes = {{.type = 0, .repeat = 3}, {.type = 1}};
  problem.tables = {
      {2, 1, {Picoseconds(100), Picoseconds(200)}},
      {2,
       2,
       {Picoseconds(0), Picoseconds(70), Picoseconds(70), Picoseconds(0)},
       {Within(0), Within(7), Within(6), Within(0)}}};
  problem.edges = {{.from = 0, .to = 1, .table = 0}};
  problem.self_edges = {{.type = 0, .table = 1}};
  return problem;
}

int64_t Root(double square) { return std::llround(std::sqrt(square)); }

TEST(UncertaintyTest, CopiesOfOneMeasurementErrTogether) {
  const auto noise = EstimateNoise(MakeNoisyChain(), {{0, 0, 0}, {0}});
  ASSERT_TRUE(noise.ok()) << noise.status();
  EXPECT_EQ(noise->below.count(), Root(90 * 90 + 5 * 5));
  EXPECT_EQ(noise->above.count(), Root(90 * 90 + 12 * 12));
}

TEST(UncertaintyTest, DifferentMeasurementsErrApart) {
  const auto noise = EstimateNoise(MakeNoisyChain(), {{0, 1, 0}, {0}});
  ASSERT_TRUE(noise.ok()) << noise.status();
  EXPECT_EQ(noise->below.count(),
            Root(60 * 60 + 40 * 40 + 5 * 5 + 7 * 7 + 6 * 6));
}

// Not the same as the two intervals together: head and one layer cancel.
TEST(UncertaintyTest, WhatTwoPlansShareCancels) {
  const auto noise = EstimateNoiseBetween(MakeNoisyChain(), {{0, 0, 0}, {0}},
                                          {{0, 1, 1}, {0}});
  ASSERT_TRUE(noise.ok()) << noise.status();
  EXPECT_EQ(noise->below.count(), Root(60 * 60 + 80 * 80 + 7 * 7));
  const auto none = EstimateNoiseBetween(MakeNoisyChain(), {{0, 1, 0}, {0}},
                                         {{0, 1, 0}, {0}});
  EXPECT_EQ(*none, NoiseInterval());
}

TEST(UncertaintyTest, WhatIsSubtractedErrsTheOtherWay) {
  PlanProblem problem = MakeNoisyChain();
  problem.types[0].configs[0].noise = {Picoseconds(3), Picoseconds(50)};
  problem.types[0].configs[1].noise = {};
  const auto noise =
      EstimateNoiseBetween(problem, {{0, 0, 0}, {0}}, {{1, 1, 1}, {0}});
  ASSERT_TRUE(noise.ok()) << noise.status();
  EXPECT_EQ(noise->below.count(), 150);
  EXPECT_EQ(noise->above.count(), 9);
}

TEST(UncertaintyTest, NoTimeIsBelowNothing) {
  PlanProblem problem;
  problem.types = {{"a", {{}}}};
  problem.types[0].configs[0] = {.time = Picoseconds(10), .noise = Within(10)};
  problem.nodes = {{.type = 0}};
  EXPECT_EQ(EstimateNoise(problem, {{0}})->below.count(), 10);
  EXPECT_TRUE(IsUncertain(problem));
  problem.types[0].configs[0].noise = {};
  EXPECT_FALSE(IsUncertain(problem));
}

TEST(UncertaintyTest, AForbiddenPlanHasNoInterval) {
  PlanProblem problem = MakeNoisyChain();
  problem.tables[1].entries[1].reset();
  EXPECT_EQ(EstimateNoise(problem, {{0, 1, 0}, {0}}).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace meshwright::problem
