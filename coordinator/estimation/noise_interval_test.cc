#include "coordinator/estimation/noise_interval.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace meshwright::estimation {
namespace {

v1::Measurement MakeMeasurement(std::vector<int64_t> samples) {
  v1::Measurement measurement;
  measurement.set_minimum_ns(*std::min_element(samples.begin(), samples.end()));
  measurement.mutable_samples_ns()->Assign(samples.begin(), samples.end());
  return measurement;
}

TEST(NoiseIntervalTest, IsTheDistanceToTheFifthSmallestSample) {
  EXPECT_DOUBLE_EQ(EstimateNoiseNs(MakeMeasurement(
                       {1400, 9000, 1000, 1500, 1100, 1300, 1200, 9000})),
                   400);
}

TEST(NoiseIntervalTest, IsNeverFinerThanTheProtocol) {
  EXPECT_DOUBLE_EQ(
      EstimateNoiseNs(MakeMeasurement({1000, 1000, 1001, 1002, 1003, 1004})),
      10);
}

TEST(NoiseIntervalTest, FewSamplesSayLittleAndNoneAreNoMeasurement) {
  EXPECT_DOUBLE_EQ(EstimateNoiseNs(MakeMeasurement({1000, 1001, 1002, 1003})),
                   100);
  EXPECT_DOUBLE_EQ(EstimateNoiseNs(v1::Measurement()), 0);
}

// Delays that only add, few or many; and a bell, which has no lower end.
TEST(NoiseIntervalTest, HoldsTheNextMinimum) {
  std::mt19937_64 random(1);
  std::exponential_distribution<double> tail(1.0 / 40'000);
  std::uniform_real_distribution<double> flat(0, 200'000);
  std::normal_distribution<double> bell(0, 30'000);
  const auto sample = [&](int kind) {
    const double more = kind == 0   ? tail(random)
                        : kind == 1 ? flat(random)
                                    : std::max(-90'000.0, bell(random));
    return static_cast<int64_t>(1'000'000 + more);
  };
  for (int kind = 0; kind < 3; ++kind) {
    constexpr int kTrials = 4000;
    int held = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<int64_t> first(24), second(24);
      for (int64_t& it : first) it = sample(kind);
      for (int64_t& it : second) it = sample(kind);
      const v1::Measurement a = MakeMeasurement(first);
      const double apart = static_cast<double>(
          MakeMeasurement(second).minimum_ns() - a.minimum_ns());
      held += std::abs(apart) <= EstimateNoiseNs(a);
    }
    EXPECT_GT(held, kTrials * (kind == 2 ? 0.80 : 0.90)) << kind;
  }
}

TEST(NoiseIntervalTest, IndependentOnesAddAsSquares) {
  IndependentNoise sum;
  sum.Add(3);
  sum.Add(4);
  const problem::NoiseInterval noise = sum.Around(problem::Picoseconds(4000));
  EXPECT_EQ(noise.above.count(), 5000);
  EXPECT_EQ(noise.below.count(), 4000);
}

}  // namespace
}  // namespace meshwright::estimation
