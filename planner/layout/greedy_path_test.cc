#include "planner/layout/greedy_path.h"

#include <gtest/gtest.h>

#include "planner/layout/cheapest_path.h"
#include "planner/layout/testing/random_layout.h"

namespace meshwright::layout {
namespace {

// The rules of ColossalAI's table for one dimension: S0 is {0}, R is {}.
TEST(SpecDifferenceTest, CountsGathersSlicesAndPenalties) {
  EXPECT_EQ(CountSpecDifference({{0}}, {{0}}), 0);
  EXPECT_EQ(CountSpecDifference({{0, 1}}, {{0}}), 20);
  EXPECT_EQ(CountSpecDifference({{0}}, {{0, 1}}), 5);
  EXPECT_EQ(CountSpecDifference({{0}}, {{1}}), 20 + 6 + 5);
  EXPECT_EQ(CountSpecDifference({{}}, {{0, 1}}), 5 + 6 + 5);
  EXPECT_EQ(CountSpecDifference({{0, 1}}, {{}}), 20 + 6 + 20);
  EXPECT_EQ(CountSpecDifference({{1}}, {{0, 1}}), 20 + 6 + 5 + 6 + 5);
  EXPECT_EQ(CountSpecDifference({{0, 1}}, {{1}}), 20 + 6 + 20 + 6 + 5);
  EXPECT_EQ(CountSpecDifference({{0}, {1}}, {{}, {1, 0}}), 20 + 5);
}

TEST(GreedyPathTest, TakesAnExchangeWhereOneStepDoes) {
  LayoutProblem problem;
  problem.shape = {8, 8};
  problem.elem_bytes = 4;
  problem.mesh = {2, 2};
  problem.links = *AlphaBetaLinks::Create({1e-6, 1e-6}, {1e-9, 1e-9});
  problem.source = {{0}, {1}};
  problem.target = {{}, {1, 0}};
  const auto path = FindGreedyPath(problem);
  ASSERT_TRUE(path.has_value());
  ASSERT_EQ(path->steps.size(), 1);
  EXPECT_EQ(path->steps[0].op, Op::kAllToAll);
  EXPECT_EQ(path->time, Picoseconds(1'000'000 + 64 / 2 * 1000));
}

TEST(GreedyPathTest, NeverBeatsTheSearch) {
  int slower = 0;
  for (int seed = 0; seed < 2000; ++seed) {
    const LayoutProblem problem =
        MakeRandomLayout(seed, {.axes = 1 + seed % 3, .dims = 4}).problem;
    const auto greedy = FindGreedyPath(problem);
    if (!greedy.has_value()) continue;
    const auto best = FindCheapestPath(problem);
    ASSERT_TRUE(best.ok() && best->path.has_value());
    EXPECT_EQ(greedy->specs.back(), problem.target);
    EXPECT_LE(best->path->time, greedy->time) << seed;
    slower += best->path->time < greedy->time;
  }
  EXPECT_GT(slower, 100);
}

}  // namespace
}  // namespace meshwright::layout
