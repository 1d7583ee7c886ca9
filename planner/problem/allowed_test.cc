#include "planner/problem/allowed.h"

#include <gtest/gtest.h>

#include <limits>

namespace meshwright::problem {
namespace {

TEST(AllowedTest, FixedAndForbiddenTogether) {
  PlanProblem problem;
  problem.types = {{"t", {{}, {}, {}, {}}}};
  problem.nodes = {{.type = 0}, {.type = 0}, {.type = 0}};
  problem.fixed[0] = {3, 1, 1};
  problem.forbidden[0] = {3};
  problem.forbidden[1] = {0, 2};
  EXPECT_EQ(ListAllowedConfigs(problem, 0), std::vector<int>{1});
  EXPECT_EQ(ListAllowedConfigs(problem, 1), (std::vector<int>{1, 3}));
  EXPECT_EQ(ListAllowedConfigs(problem, 2), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_TRUE(IsRestricted(problem, 1));
  EXPECT_FALSE(IsRestricted(problem, 2));
}

TEST(AllowedTest, HeadroomIsRoundedToFewerBytes) {
  PlanProblem problem;
  EXPECT_FALSE(ComputeUsableBytes(problem).has_value());
  problem.memory_limit_bytes = 1001;
  EXPECT_EQ(ComputeUsableBytes(problem), 1001);
  problem.headroom_percent = 10;
  EXPECT_EQ(ComputeUsableBytes(problem), 900);
  problem.memory_limit_bytes = std::numeric_limits<int64_t>::max();
  problem.headroom_percent = 50;
  EXPECT_EQ(ComputeUsableBytes(problem),
            std::numeric_limits<int64_t>::max() / 2);
}

}  // namespace
}  // namespace meshwright::problem
