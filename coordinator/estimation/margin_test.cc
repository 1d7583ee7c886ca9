#include "coordinator/estimation/margin.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace meshwright::estimation {
namespace {

TEST(MarginTest, FollowsFromTheDeviationOfFourInFive) {
  EXPECT_DOUBLE_EQ(FindDeviation({0.3, 0.1, 0.2, 0.9, 0.4}), 0.4);
  EXPECT_DOUBLE_EQ(FindMargin({0.3, 0.1, 0.2, 0.9, 0.4}),
                   1.5 * (1 + 1 / std::sqrt(5)) * 0.4);
}

TEST(MarginTest, IsNeverBelowItsFloor) {
  EXPECT_DOUBLE_EQ(FindMargin({}), kFirstMargin);
  EXPECT_DOUBLE_EQ(FindMargin({0, 0}), kFirstMargin);
  EXPECT_DOUBLE_EQ(FindMargin({0, 0, 0}), kMinMargin);
}

// An outlier of any size counts as one rank more.
TEST(MarginTest, OneOutlierInTwentyMovesItByOneRank) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> bell(0, 0.1);
  for (int trial = 0; trial < 1000; ++trial) {
    std::vector<double> deviations(20);
    for (double& it : deviations) it = std::abs(bell(random));
    std::vector<double> sorted = deviations;
    std::sort(sorted.begin(), sorted.end());
    const double clean = FindMargin(deviations);
    deviations[random() % deviations.size()] = 50;
    const double moved = FindMargin(deviations);
    EXPECT_GE(moved, clean);
    EXPECT_LE(moved, std::max(clean, clean * sorted[16] / sorted[15]) + 1e-12);
  }
}

TEST(MarginTest, FewSamplesWidenIt) {
  double last = 1;
  for (int n = 1; n <= 200; ++n) {
    const double margin = FindMargin(std::vector<double>(n, 0.1));
    EXPECT_LT(margin, last) << n;
    EXPECT_GT(margin, kTail * 0.1) << n;
    last = margin;
  }
}

// Of the configurations that come next, about one in twenty is further off.
TEST(MarginTest, HoldsTheNextDeviation) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> bell(0, 0.1);
  for (const int n : {6, 20, 60}) {
    constexpr int kTrials = 4000;
    int held = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<double> deviations(n);
      for (double& it : deviations) it = std::abs(bell(random));
      held += std::abs(bell(random)) <= FindMargin(deviations);
    }
    EXPECT_GT(held, kTrials * 0.93) << n;
  }
}

}  // namespace
}  // namespace meshwright::estimation
