#include "coordinator/problem/memory_limit.h"

#include <gtest/gtest.h>

#include <limits>

namespace meshwright::formulation {
namespace {

TEST(MemoryLimitTest, NoLimitIsNone) {
  EXPECT_FALSE(FindUsableBytes(0).has_value());
}

TEST(MemoryLimitTest, AShareStaysFree) {
  EXPECT_EQ(FindUsableBytes(1000), 900);
  EXPECT_EQ(FindUsableBytes(std::numeric_limits<int64_t>::max()),
            8301034833169298226);
}

TEST(MemoryLimitTest, TheSmallestMemoryHoldsThePeakAndNoneSmallerDoes) {
  for (int64_t peak = 1; peak < 5000; ++peak) {
    const int64_t memory = FindDeviceMemoryBytes(peak);
    EXPECT_GE(*FindUsableBytes(memory), peak);
    EXPECT_LT(FindUsableBytes(memory - 1).value_or(0), peak) << peak;
  }
}

}  // namespace
}  // namespace meshwright::formulation
