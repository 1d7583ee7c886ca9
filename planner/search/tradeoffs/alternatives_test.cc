#include "planner/search/tradeoffs/alternatives.h"

#include <gtest/gtest.h>

#include <set>

#include "planner/problem/evaluate.h"
#include "planner/search/testing/exhaustive.h"
#include "planner/search/testing/random_problem.h"

namespace meshwright::search {
namespace {

using problem::Picoseconds;
using problem::PlanProblem;

TEST(AlternativesTest, AgreesWithEnumeration) {
  int found = 0;
  int none = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const Kinds kinds = {.skips = seed % 2 == 0,
                         .tied = seed % 3 == 0,
                         .nulls = seed % 5 == 0,
                         .fixed = seed % 7 == 0,
                         .limit = seed % 4 == 0};
    const PlanProblem problem = RandomProblem(seed, kinds);
    const auto answer = Solve(problem);
    ASSERT_TRUE(answer.ok()) << answer.status();
    if (!answer->plan.has_value()) continue;
    const auto alternatives = FindAlternatives(problem, answer->plan->choice);
    ASSERT_TRUE(alternatives.ok()) << alternatives.status();
    std::set<std::pair<int, int>> choices;
    for (size_t n = 0; n < problem.nodes.size(); ++n) {
      for (int config : answer->plan->choice[n]) {
        choices.emplace(problem.nodes[n].type, config);
      }
    }
    ASSERT_EQ(alternatives->size(), choices.size());
    for (const Alternative& it : *alternatives) {
      EXPECT_TRUE(choices.contains({it.type, it.config}));
      PlanProblem without = problem;
      for (int node : it.nodes) without.forbidden[node].push_back(it.config);
      const Exhaustive oracle = SolveExhaustively(without);
      ASSERT_EQ(it.next.has_value(), oracle.choice.has_value()) << seed;
      if (!it.next.has_value()) {
        ++none;
        continue;
      }
      ++found;
      EXPECT_EQ(it.next->time, oracle.time) << seed;
      EXPECT_EQ(it.lower_bound, oracle.time) << seed;
      EXPECT_GE(it.next->time, answer->plan->time);
    }
  }
  EXPECT_GT(found, 400);
  EXPECT_GT(none, 50);
}

// Parts that both plans share do not blur the difference.
TEST(AlternativesTest, TheNoiseIsThatOfTheDifference) {
  const problem::NoiseInterval noise = {Picoseconds(3), Picoseconds(3)};
  PlanProblem problem;
  problem.types = {{"layer", {{}, {}}}, {"head", {{}}}};
  problem.types[0].configs[0] = {.time = Picoseconds(100), .noise = noise};
  problem.types[0].configs[1] = {.time = Picoseconds(120)};
  problem.types[1].configs[0] = {.time = Picoseconds(500),
                                 .noise = {Picoseconds(90), Picoseconds(90)}};
  problem.nodes = {{.type = 0, .repeat = 96}, {.type = 1}};
  const auto alternatives = FindAlternatives(
      problem, {std::vector<int>(96, 0), std::vector<int>(1, 0)});
  ASSERT_TRUE(alternatives.ok()) << alternatives.status();
  ASSERT_EQ(alternatives->size(), 2u);
  EXPECT_EQ((*alternatives)[0].next->time.count(), 96 * 120 + 500);
  EXPECT_EQ((*alternatives)[0].noise.below.count(), 96 * 3);
  EXPECT_FALSE((*alternatives)[1].next.has_value());
}

}  // namespace
}  // namespace meshwright::search
