#include "planner/search/graph/powers.h"

#include <gtest/gtest.h>

#include <random>

#include "planner/search/graph/min_plus.h"
#include "planner/search/graph/run.h"

namespace meshwright::search {
namespace {

constexpr int kSize = 3;

Matrix RandomMatrix(std::mt19937_64& random) {
  Matrix matrix{kSize, kSize, {}};
  for (int i = 0; i < kSize * kSize; ++i) {
    matrix.entries.push_back(
        random() % 5 == 0 ? kNever : static_cast<Cost>(random() % 3));
  }
  return matrix;
}

Cost SumWalk(const Matrix& step, int at, const std::vector<int>& values) {
  Cost cost = 0;
  for (const int value : values) {
    cost = Clamp(cost + step.at(at, value));
    at = value;
  }
  return cost;
}

// Of every walk of `steps` from `from` to `to`.
Cost MinCost(const Matrix& step, int from, int to, int steps) {
  int walks = 1;
  for (int i = 0; i + 1 < steps; ++i) walks *= kSize;
  Cost min_cost = kNever;
  for (int w = 0; w < walks; ++w) {
    std::vector<int> values(steps, to);
    for (int i = steps - 2, rest = w; i >= 0; --i, rest /= kSize) {
      values[i] = rest % kSize;
    }
    min_cost = std::min(min_cost, SumWalk(step, from, values));
  }
  return min_cost;
}

TEST(PowersTest, HoldBestWalks) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 100; ++round) {
    const Matrix step = RandomMatrix(random);
    Powers powers(step);
    powers.Grow(3);
    for (int level = 0; level <= 3; ++level) {
      for (int pair = 0; pair < kSize * kSize; ++pair) {
        const int from = pair / kSize;
        const int to = pair % kSize;
        const Cost min_cost = MinCost(step, from, to, 1 << level);
        ASSERT_EQ(powers.cost(level, from, to), min_cost);
        if (min_cost >= kNever) continue;
        std::vector<int> values;
        powers.Expand(level, from, to, values);
        ASSERT_EQ(values.back(), to);
        ASSERT_EQ(SumWalk(step, from, values), min_cost);
      }
    }
  }
}

// Steady, folded and plain runs against one step at a time.
TEST(RunTest, AgreesWithOneCopyAtATime) {
  std::mt19937_64 random(5);
  int folds = 0;
  for (int round = 0; round < 2000; ++round) {
    const Matrix inner = RandomMatrix(random);
    std::vector<Cost> unary(kSize);
    std::vector<Cost> rest(kSize);
    for (Cost& cost : unary) cost = 1000 + random() % 2;
    for (Cost& cost : rest) cost = random() % 300;
    const int copies = 2 + random() % 200;
    PowersCache cache;
    const MatrixView link{&inner, round % 2 == 1};
    const search::Run run(unary, link, copies, rest, [&]() -> Powers& {
      ++folds;
      return cache.FindPowers(0, unary, 0, link);
    });
    std::vector<std::vector<Cost>> values;
    for (int i = 0; i < copies; ++i) {
      values.push_back(i == 0 ? rest : MinPlus(link, values.back()));
      for (int c = 0; c < kSize; ++c) {
        values.back()[c] = Clamp(values.back()[c] + unary[c]);
      }
    }
    ASSERT_EQ(run.value(), values.back());
    for (int first = 0; first < kSize; ++first) {
      if (run.value()[first] >= kNever) continue;
      std::vector<int> values;
      run.Choose(first, values);
      ASSERT_EQ(values.size(), copies - 1);
      Cost cost = unary[first];
      int at = first;
      for (const int value : values) {
        cost = Clamp(cost + link.at(at, value) + unary[value]);
        at = value;
      }
      ASSERT_EQ(Clamp(cost + rest[at]), run.value()[first]);
    }
  }
  EXPECT_GT(folds, 20);
}

}  // namespace
}  // namespace meshwright::search
