#include "planner/ilp/dominance.h"

#include <gtest/gtest.h>

#include "planner/ilp/testing/random_choices.h"

namespace meshwright::ilp {
namespace {

TEST(DominanceTest, KeepsTheLeastCost) {
  int dropped = 0;
  for (int seed = 0; seed < 2000; ++seed) {
    const MultipleChoice problem =
        RandomMultipleChoice(seed, {.costs = seed % 2 == 0 ? 3 : 40,
                                    .weights = seed % 3 == 0 ? 4 : 30,
                                    .forbidden = seed % 5 < 2,
                                    .budgets = seed % 3,
                                    .transients = seed % 4 < 2});
    const Undominated undominated = RemoveDominated(problem);
    const std::optional<int64_t> least = LeastCost(problem);
    if (!undominated.is_possible) {
      ASSERT_FALSE(least.has_value()) << seed;
      continue;
    }
    const std::optional<int64_t> rest = LeastCost(undominated.problem);
    ASSERT_EQ(rest.has_value(), least.has_value()) << seed;
    if (rest.has_value()) {
      ASSERT_EQ(*rest + undominated.base, *least) << seed;
    }
    for (int g = 0; g < problem.groups(); ++g) {
      ASSERT_EQ(undominated.kept[g].size(), undominated.problem.options(g));
      dropped += problem.options(g) - undominated.problem.options(g);
    }
  }
  EXPECT_GT(dropped, 2000);
}

TEST(DominanceTest, EveryChoiceLeftCostsWhatItDid) {
  for (int seed = 0; seed < 300; ++seed) {
    const MultipleChoice problem = RandomMultipleChoice(
        seed, {.groups = 4, .costs = 1000, .forbidden = true});
    const Undominated undominated = RemoveDominated(problem);
    if (!undominated.is_possible) continue;
    std::vector<int> inside(4);
    std::vector<int> outside(4);
    for (int g = 0; g < 4; ++g) {
      inside[g] = seed % undominated.problem.options(g);
      outside[g] = undominated.kept[g][inside[g]];
    }
    const auto before = ComputeCost(problem, outside);
    const auto after = ComputeCost(undominated.problem, inside);
    ASSERT_EQ(before.has_value(), after.has_value());
    if (before.has_value()) {
      ASSERT_EQ(*after + undominated.base, *before);
    }
  }
}

TEST(DominanceTest, ATableOfRowsAndColumnsIsNoPair) {
  const MultipleChoice problem{
      .costs = {{0, 9, 5}, {7, 0}},
      .pairs = {{.a = 0, .b = 1, .costs = {9, 19, 5, 15, 0, 10}}},
      .budgets = {{.limit = 9, .weights = {{1, 0, 2}, {0, 3}}}}};
  const Undominated undominated = RemoveDominated(problem);
  EXPECT_TRUE(undominated.problem.pairs.empty());
  EXPECT_EQ(*LeastCost(undominated.problem) + undominated.base,
            *LeastCost(problem));
}

}  // namespace
}  // namespace meshwright::ilp
