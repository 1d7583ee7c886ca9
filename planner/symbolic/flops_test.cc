#include "planner/symbolic/flops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>

namespace meshwright::symbolic {
namespace {

constexpr int64_t kMax = INT64_MAX;

TEST(FlopsTest, AProductTakesTwoPerTerm) {
  EXPECT_EQ(CountMatrixProductFlops(3, 4, 5, 6).flops, 2 * 3 * 4 * 5 * 6);
  EXPECT_EQ(CountMatrixProductFlops(1, 4, 5, 0).flops, 0);
}

// Every pair of an output and a kernel position, by definition.
int64_t CountPairs(const WindowDim& dim) {
  int64_t pairs = 0;
  for (int64_t o = 0; o < dim.output; ++o) {
    for (int64_t k = 0; k < dim.kernel; ++k) {
      const int64_t at =
          o * dim.stride + k * dim.window_dilation - dim.padding_low;
      pairs += at >= 0 && at % dim.base_dilation == 0 &&
               at / dim.base_dilation < dim.input;
    }
  }
  return pairs;
}

TEST(FlopsTest, PaddingAndHolesAreNotMultiplied) {
  std::mt19937_64 random(7);
  const auto upto = [&](uint64_t max) {
    return static_cast<int64_t>(random() % (max + 1));
  };
  for (int i = 0; i < 20'000; ++i) {
    WindowDim dim;
    dim.input = upto(12);
    dim.kernel = upto(6);
    dim.output = upto(12);
    dim.stride = 1 + upto(4);
    dim.padding_low = upto(10) - 4;
    dim.window_dilation = 1 + upto(4);
    dim.base_dilation = 1 + upto(5);
    ASSERT_EQ(CountValidPositions(dim), CountPairs(dim))
        << dim.input << " " << dim.kernel << " " << dim.output << " "
        << dim.stride << " " << dim.padding_low << " " << dim.window_dilation
        << " " << dim.base_dilation;
  }
}

TEST(FlopsTest, AConvolutionWithoutWindowIsAProduct) {
  EXPECT_EQ(CountWindowedProductFlops(4, 5, 6, {}),
            CountMatrixProductFlops(1, 4, 5, 6));
  const WindowDim same{.input = 8, .kernel = 3, .output = 8, .padding_low = 1};
  // Two of 24 pairs are padding.
  EXPECT_EQ(CountWindowedProductFlops(2, 5, 6, {same}).flops,
            2 * 2 * 5 * 6 * 22);
}

TEST(FlopsTest, SolvesCountWhatTheirLoopsDo) {
  int64_t substitution = 0;
  int64_t factor = 0;
  for (int64_t i = 0; i < 9; ++i) {
    substitution += 2 * i + 1;  // products and sums, then the division
    // The root or division of every entry of column i and what it subtracts.
    for (int64_t row = i; row < 9; ++row) factor += 1 + 2 * i;
  }
  EXPECT_EQ(CountTriangularSolveFlops(1, 9, 1).flops, substitution);
  EXPECT_EQ(CountTriangularSolveFlops(2, 9, 3).flops, 6 * substitution);
  EXPECT_EQ(CountCholeskyFlops(1, 9).flops, factor);
  EXPECT_EQ(CountCholeskyFlops(4, 9).flops, 4 * factor);
}

TEST(FlopsTest, SortsAndTransformsGrowWithTheLogarithm) {
  EXPECT_EQ(CountSortFlops(3, 8).flops, 3 * 8 * 3);
  EXPECT_EQ(CountSortFlops(3, 9).flops, 3 * 9 * 4);
  EXPECT_EQ(CountSortFlops(3, 1).flops, 0);
  EXPECT_EQ(CountFourierFlops(64, {8, 8}, false).flops, 5 * 64 * 6);
  EXPECT_EQ(CountFourierFlops(64, {8, 8}, true).flops, 5 * 64 * 3);
}

TEST(FlopsTest, NothingWrapsAtTheLimits) {
  EXPECT_EQ(CountMatrixProductFlops(kMax, kMax, kMax, kMax).flops, kMax);
  EXPECT_EQ(CountMatrixProductFlops(kMax, kMax, 0, kMax).flops, 0);
  EXPECT_EQ(Sum({kMax, 1}, {1, kMax}), (Counts{kMax, kMax}));
  EXPECT_EQ(ScaleCounts({kMax, 2}, kMax), (Counts{kMax, kMax}));
  EXPECT_EQ(CountSortFlops(kMax, kMax).flops, kMax);
  EXPECT_EQ(CountFourierFlops(kMax, {kMax, kMax}, false).flops, kMax);
  EXPECT_EQ(CountTriangularSolveFlops(kMax, kMax, kMax).flops, kMax);
  EXPECT_EQ(CountCholeskyFlops(kMax, kMax).flops, kMax);
  EXPECT_EQ(CountCholeskyFlops(1, int64_t{1} << 41).flops, kMax);
  const WindowDim huge{.input = kMax,
                       .kernel = kMax,
                       .output = kMax,
                       .stride = kMax,
                       .padding_low = kMax,
                       .window_dilation = kMax,
                       .base_dilation = kMax};
  EXPECT_GE(CountValidPositions(huge), 0);
  const WindowDim wide{.input = kMax,
                       .kernel = 2,
                       .output = kMax,
                       .stride = kMax,
                       .padding_low = -kMax,
                       .window_dilation = kMax,
                       .base_dilation = kMax - 1};
  EXPECT_GE(CountValidPositions(wide), 0);
  const WindowDim all{.input = kMax, .kernel = 1, .output = kMax};
  EXPECT_EQ(CountValidPositions(all), kMax);
  EXPECT_EQ(CountWindowedProductFlops(kMax, kMax, kMax, {all, all}).flops,
            kMax);
}

}  // namespace
}  // namespace meshwright::symbolic
