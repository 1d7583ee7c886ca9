#include "planner/search/least_mean.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <random>

namespace meshwright::search {
namespace {

// The least mean over all closed walks of at most as many steps as vertices.
std::optional<Cost> ByWalks(const Matrix& steps) {
  const int size = steps.rows;
  std::optional<double> least;
  Matrix walks = steps;
  for (int length = 1; length <= size; ++length) {
    for (int v = 0; v < size; ++v) {
      if (walks.at(v, v) >= kNever) continue;
      const double mean = static_cast<double>(walks.at(v, v)) / length;
      least = std::min(least.value_or(mean), mean);
    }
    Matrix longer{size, size, std::vector<Cost>(walks.entries.size(), kNever)};
    for (int a = 0; a < size; ++a) {
      for (int m = 0; m < size; ++m) {
        for (int b = 0; b < size; ++b) {
          Cost& cost = longer.entries[a * size + b];
          cost = std::min(cost, Clamp(walks.at(a, m) + steps.at(m, b)));
        }
      }
    }
    walks = longer;
  }
  if (!least.has_value()) return std::nullopt;
  return static_cast<Cost>(std::floor(*least + 1e-9));
}

TEST(LeastMeanTest, IsThatOfTheCheapestClosedWalk) {
  for (int seed = 0; seed < 2000; ++seed) {
    std::mt19937_64 random(seed);
    const int size = 1 + random() % 6;
    Matrix steps{size, size, {}};
    for (int i = 0; i < size * size; ++i) {
      steps.entries.push_back(
          random() % 4 == 0 ? kNever : static_cast<Cost>(random() % 50));
    }
    const auto expected = ByWalks(steps);
    const Cost mean = LeastMean(steps, {});
    if (expected.has_value()) {
      EXPECT_EQ(mean, *expected) << seed;
    }
  }
}

}  // namespace
}  // namespace meshwright::search
