#include "coordinator/estimation/noise_interval.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "profiledb/store/row_time.h"

namespace meshwright::estimation {
namespace {

int64_t Median(std::vector<int64_t> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

v1::Measurement MakeMeasurement(std::vector<int64_t> samples) {
  v1::Measurement measurement;
  measurement.set_minimum_ns(*std::min_element(samples.begin(), samples.end()));
  measurement.mutable_samples_ns()->Assign(samples.begin(), samples.end());
  measurement.set_median_ns(Median(samples));
  for (int64_t& it : samples) it = std::abs(it - measurement.median_ns());
  measurement.set_mad_ns(Median(std::move(samples)));
  return measurement;
}

TEST(NoiseIntervalTest, GrowsWithTheDeviationAndShrinksWithTheSamples) {
  const double nine = EstimateNoiseNs(MakeMeasurement(
      {10400, 12000, 10000, 10500, 10100, 10300, 10200, 9900, 10250}));
  EXPECT_NEAR(nine, 2.326 * 1.858 * 150 / 3, 1);
}

TEST(NoiseIntervalTest, IsNeverFinerThanTheProtocol) {
  EXPECT_DOUBLE_EQ(
      EstimateNoiseNs(MakeMeasurement({1000, 1000, 1000, 1002, 1003, 1004})),
      10.02);
}

// Two batches of steady samples, 9 % apart.
TEST(NoiseIntervalTest, BatchesThatDisagreeSayMoreThanSamples) {
  v1::Measurement it = MakeMeasurement({1000, 1000, 1000, 1002, 1003, 1004});
  it.set_spread_ns(45);
  EXPECT_DOUBLE_EQ(EstimateNoiseNs(it), 45);
  it.set_spread_ns(3);
  EXPECT_DOUBLE_EQ(EstimateNoiseNs(it), 10.02);
  v1::Measurement few = MakeMeasurement({1000, 1001, 1002});
  few.set_spread_ns(300);
  EXPECT_DOUBLE_EQ(EstimateNoiseNs(few), 300);
}

TEST(NoiseIntervalTest, FewSamplesSayLittleAndNoneAreNoMeasurement) {
  EXPECT_DOUBLE_EQ(EstimateNoiseNs(MakeMeasurement({1000, 1001, 1002, 1003})),
                   100.2);
  EXPECT_DOUBLE_EQ(EstimateNoiseNs(v1::Measurement()), 0);
}

// Delays that only add, few or many; and a bell.
TEST(NoiseIntervalTest, HoldsTheNextTime) {
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
  const auto make = [](std::vector<int64_t> samples, bool is_low) {
    v1::Measurement row = MakeMeasurement(samples);
    std::sort(samples.begin(), samples.end());
    if (is_low) row.set_time_ns(samples[samples.size() / 10]);
    return row;
  };
  for (int round = 0; round < 6; ++round) {
    const int kind = round % 3;
    const bool is_low = round >= 3;
    constexpr int kTrials = 4000;
    int held = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<int64_t> first(24), second(24);
      for (int64_t& it : first) it = sample(kind);
      for (int64_t& it : second) it = sample(kind);
      const v1::Measurement a = make(first, is_low);
      const double apart = static_cast<double>(
          store::GetTimeNs(make(second, is_low)) - store::GetTimeNs(a));
      held += std::abs(apart) <= EstimateNoiseNs(a);
    }
    EXPECT_GT(held, kTrials * (kind == 1 ? 0.80 : 0.84)) << round;
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
