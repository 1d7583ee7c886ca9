#include "planner/ilp/multiple_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace meshwright::ilp {
namespace {

using testing::HasSubstr;

// Two groups of two and three options, and a budget.
MultipleChoice Small() {
  return {.costs = {{1, 2}, {3, 4, 5}},
          .pairs = {{.a = 0, .b = 1, .costs = {10, 20, 30, 40, 50, {}}}},
          .budgets = {{.limit = 100,
                       .weights = {{40, 50}, {30, 20, 10}},
                       .transients = {{5, 25}, {30, 0, 0}}}}};
}

std::string Complaint(const MultipleChoice& problem) {
  const absl::Status status = Validate(problem);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

TEST(MultipleChoiceTest, AddsUpCostsAndPairs) {
  const MultipleChoice problem = Small();
  ASSERT_TRUE(Validate(problem).ok()) << Validate(problem);
  EXPECT_EQ(ComputeCost(problem, {0, 1}), 1 + 4 + 20);
  EXPECT_EQ(ComputeCost(problem, {1, 0}), std::nullopt) << "80 + 30 pass 100";
  EXPECT_EQ(ComputeCost(problem, {1, 1}), 2 + 4 + 50);
  EXPECT_EQ(ComputeCost(problem, {1, 2}), std::nullopt) << "forbidden";
}

TEST(MultipleChoiceTest, ABudgetCountsTheLargestTransientOnce) {
  MultipleChoice problem = Small();
  problem.budgets[0].limit = 40 + 30 + 30;
  EXPECT_TRUE(ComputeCost(problem, {0, 0}).has_value());
  --problem.budgets[0].limit;
  EXPECT_FALSE(ComputeCost(problem, {0, 0}).has_value());
}

TEST(MultipleChoiceTest, BadFiguresAreNamed) {
  MultipleChoice problem = Small();
  problem.costs[1][2] = -1;
  EXPECT_THAT(Complaint(problem), HasSubstr("costs[1][2] is negative: -1"));
  problem = Small();
  problem.costs[0].clear();
  EXPECT_THAT(Complaint(problem), HasSubstr("costs[0] is empty"));
  problem = Small();
  problem.pairs[0].b = 2;
  EXPECT_THAT(Complaint(problem), HasSubstr("pairs[0] names group 2"));
  problem = Small();
  problem.pairs[0].b = 0;
  EXPECT_THAT(Complaint(problem), HasSubstr("with itself"));
  problem = Small();
  problem.pairs[0].costs.pop_back();
  EXPECT_THAT(Complaint(problem), HasSubstr("has 5 entries, not 6"));
  problem = Small();
  problem.pairs[0].costs[3] = -7;
  EXPECT_THAT(Complaint(problem), HasSubstr("costs[3] is negative: -7"));
  problem = Small();
  problem.budgets[0].weights[1].pop_back();
  EXPECT_THAT(Complaint(problem),
              HasSubstr("budgets[0].weights[1] has 2 options, not 3"));
  problem = Small();
  problem.budgets[0].transients.pop_back();
  EXPECT_THAT(Complaint(problem),
              HasSubstr("budgets[0].transients has 1 groups, not 2"));
  problem = Small();
  problem.budgets[0].limit = -1;
  EXPECT_THAT(Complaint(problem), HasSubstr("budgets[0].limit is negative"));
}

TEST(MultipleChoiceTest, SumsThatADoubleCannotHoldAreRefused) {
  MultipleChoice problem = Small();
  problem.costs[0][0] = kMaxSum - 5 - 50;
  EXPECT_TRUE(Validate(problem).ok()) << Validate(problem);
  ++problem.costs[0][0];
  EXPECT_THAT(Complaint(problem), HasSubstr("costs may add up to more than"));
  problem = Small();
  problem.budgets[0].weights[0][0] = kMaxSum;
  EXPECT_THAT(Complaint(problem),
              HasSubstr("budgets[0].weights may add up to more than"));
}

TEST(MultipleChoiceTest, AChoiceNamesAnOptionOfEveryGroup) {
  const MultipleChoice problem = Small();
  EXPECT_TRUE(ValidateChoice(problem, {1, 2}).ok());
  for (const std::vector<int>& choice :
       std::vector<std::vector<int>>{{1}, {1, 3}, {-1, 0}, {0, 0, 0}}) {
    EXPECT_EQ(ValidateChoice(problem, choice).code(),
              absl::StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace meshwright::ilp
