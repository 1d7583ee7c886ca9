#include "planner/ilp/reduce.h"

#include <gtest/gtest.h>

#include "planner/ilp/random_choices.h"

namespace meshwright::ilp {
namespace {

TEST(ReduceTest, KeepsTheLeastCost) {
  int dropped = 0;
  for (int seed = 0; seed < 2000; ++seed) {
    const OneOfEach problem =
        RandomOneOfEach(seed, {.costs = seed % 2 == 0 ? 3 : 40,
                               .weights = seed % 3 == 0 ? 4 : 30,
                               .forbidden = seed % 5 < 2,
                               .budgets = seed % 3,
                               .transients = seed % 4 < 2});
    const Reduced reduced = Reduce(problem);
    const std::optional<int64_t> least = LeastCost(problem);
    if (!reduced.is_possible) {
      ASSERT_FALSE(least.has_value()) << seed;
      continue;
    }
    const std::optional<int64_t> rest = LeastCost(reduced.problem);
    ASSERT_EQ(rest.has_value(), least.has_value()) << seed;
    if (rest.has_value()) {
      ASSERT_EQ(*rest + reduced.base, *least) << seed;
    }
    for (int g = 0; g < problem.groups(); ++g) {
      ASSERT_EQ(reduced.kept[g].size(), reduced.problem.options(g));
      dropped += problem.options(g) - reduced.problem.options(g);
    }
  }
  EXPECT_GT(dropped, 2000);
}

TEST(ReduceTest, EveryChoiceLeftCostsWhatItDid) {
  for (int seed = 0; seed < 300; ++seed) {
    const OneOfEach problem =
        RandomOneOfEach(seed, {.groups = 4, .costs = 1000, .forbidden = true});
    const Reduced reduced = Reduce(problem);
    if (!reduced.is_possible) continue;
    std::vector<int> inside(4);
    std::vector<int> outside(4);
    for (int g = 0; g < 4; ++g) {
      inside[g] = seed % reduced.problem.options(g);
      outside[g] = reduced.kept[g][inside[g]];
    }
    const auto before = CostOf(problem, outside);
    const auto after = CostOf(reduced.problem, inside);
    ASSERT_EQ(before.has_value(), after.has_value());
    if (before.has_value()) {
      ASSERT_EQ(*after + reduced.base, *before);
    }
  }
}

TEST(ReduceTest, ATableOfRowsAndColumnsIsNoPair) {
  const OneOfEach problem{
      .costs = {{0, 9, 5}, {7, 0}},
      .pairs = {{.a = 0, .b = 1, .costs = {9, 19, 5, 15, 0, 10}}},
      .budgets = {{.limit = 9, .weights = {{1, 0, 2}, {0, 3}}}}};
  const Reduced reduced = Reduce(problem);
  EXPECT_TRUE(reduced.problem.pairs.empty());
  EXPECT_EQ(*LeastCost(reduced.problem) + reduced.base, *LeastCost(problem));
}

}  // namespace
}  // namespace meshwright::ilp
