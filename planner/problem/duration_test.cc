#include "planner/problem/duration.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace meshwright::problem {
namespace {

TEST(DurationTest, RoundsToTheNearestPicosecond) {
  EXPECT_EQ(FromSeconds(1.5e-12, "f")->count(), 2);
  EXPECT_EQ(FromSeconds(0.001, "f")->count(), 1'000'000'000);
  EXPECT_EQ(FromSeconds(-0.0, "f")->count(), 0);
}

TEST(DurationTest, RefusesWhatIsNoTimeAndNamesTheField) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {-1e-30, infinity, -infinity, std::nan(""), 1e20}) {
    const auto time = FromSeconds(bad, "nodes[3].seconds");
    EXPECT_EQ(time.status().code(), absl::StatusCode::kInvalidArgument) << bad;
    EXPECT_NE(time.status().message().find("nodes[3].seconds"),
              std::string::npos);
  }
}

TEST(DurationTest, HoldsAtTheLimits) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(*FromSeconds(2e6, "f"), kMaxTime);
  EXPECT_EQ(SaturatingAdd(kMax, 1), kMax);
  EXPECT_EQ(SaturatingAdd(kMax - 1, 1), kMax);
  EXPECT_EQ(SaturatingMultiply(kMax / 2, 3), kMax);
  EXPECT_EQ(SaturatingMultiply(3, 5), 15);
}

}  // namespace
}  // namespace meshwright::problem
