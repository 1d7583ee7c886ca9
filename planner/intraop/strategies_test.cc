#include "planner/intraop/strategies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/intraop/testing/random_model.h"

namespace meshwright::intraop {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(StrategiesTest, EveryAxisTakesEveryIndexOrNone) {
  const Operator it = MatrixOperator(8, 8, 8);
  EXPECT_THAT(ListStrategies(it, {2}, false),
              ElementsAre(Strategy{std::nullopt}, Strategy{0}, Strategy{1},
                          Strategy{2}));
  EXPECT_EQ(ListStrategies(it, {2, 2}, false).size(), 16u);
  // An axis of one device has nothing to split.
  EXPECT_EQ(ListStrategies(it, {1, 2}, false).size(), 4u);
  EXPECT_THAT(ListStrategies(it, {1, 2}, true),
              ElementsAre(Strategy{std::nullopt, 0}, Strategy{std::nullopt, 1},
                          Strategy{std::nullopt, 2}));
}

TEST(StrategiesTest, WhatDoesNotDivideIsLeftOut) {
  const Operator it = MatrixOperator(6, 4, 3);
  EXPECT_THAT(ListStrategies(it, {4}, false),
              ElementsAre(Strategy{std::nullopt}, Strategy{1}));
  // Two axes on one index need both: 6 by 2 x 3 but not 4 by 2 x 3.
  EXPECT_THAT(ListStrategies(it, {2, 3}, true),
              ElementsAre(Strategy{0, 0}, Strategy{0, 2}, Strategy{1, 0},
                          Strategy{1, 2}));
}

TEST(StrategiesTest, AnOperatorThatCannotBeSplitStaysWhole) {
  const Operator it = MatrixOperator(3, 3, 3);
  EXPECT_THAT(ListStrategies(it, {2}, true),
              ElementsAre(Strategy{std::nullopt}));
}

TEST(StrategiesTest, DataParallelTakesTheBatchAsFarAsItDivides) {
  EXPECT_EQ(ChooseDataParallel(MatrixOperator(8, 8, 8), {2, 4}),
            (Strategy{0, 0}));
  EXPECT_EQ(ChooseDataParallel(MatrixOperator(6, 8, 8), {2, 4}),
            (Strategy{0, std::nullopt}));
  Operator it = MatrixOperator(8, 8, 8);
  it.rows.reset();
  EXPECT_EQ(ChooseDataParallel(it, {2}), Strategy{std::nullopt});
}

TEST(StrategiesTest, ATensorIsSplitWhereItsIndicesAre) {
  const layout::Spec both = MakeSpec({0, 2, 0}, {0, -1, 2});
  EXPECT_THAT(both, ElementsAre(ElementsAre(0, 2), IsEmpty(), ElementsAre(1)));
  EXPECT_EQ(Parts({0, 2, 0}, {2, 3, 5}, {0}), 10);
  EXPECT_EQ(Parts({0, 2, 0}, {2, 3, 5}, {0, 2}), 30);
  EXPECT_EQ(Parts({0, 2, 0}, {2, 3, 5}, {1}), 1);
}

}  // namespace
}  // namespace meshwright::intraop
