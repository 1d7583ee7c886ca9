#include "profiledb/store/row_time.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "profiledb/store/samples.h"

namespace meshwright::store {
namespace {

TEST(RowTimeTest, OlderRowsHaveTheirMedianOrMinimum) {
  v1::Measurement it;
  it.set_minimum_ns(100);
  EXPECT_EQ(GetTimeNs(it), 100);
  it.set_median_ns(104);
  EXPECT_EQ(GetTimeNs(it), 104);
  it.set_time_ns(101);
  EXPECT_EQ(GetTimeNs(it), 101);
  v1::AnchorTime anchor;
  anchor.set_minimum_ns(7);
  EXPECT_EQ(GetTimeNs(anchor), 7);
  anchor.set_median_ns(8);
  EXPECT_EQ(GetTimeNs(anchor), 8);
  anchor.set_time_ns(7);
  EXPECT_EQ(GetTimeNs(anchor), 7);
}

TEST(RowTimeTest, WithoutSamplesNothingIsKnownOfTheError) {
  v1::Measurement it;
  it.set_median_ns(104);
  EXPECT_EQ(EstimateTimeErrorNs(it), 0);
}

// Medians of 25 normal samples scatter by as much as their rows say.
TEST(RowTimeTest, TheErrorIsHowMediansScatter) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> bell(1e6, 4e4);
  constexpr int kRows = 4000;
  double squares = 0;
  double errors = 0;
  for (int row = 0; row < kRows; ++row) {
    std::vector<int64_t> samples(25);
    for (int64_t& it : samples) it = std::llround(bell(random));
    std::sort(samples.begin(), samples.end());
    v1::Measurement it;
    it.set_minimum_ns(samples[0]);
    it.set_median_ns(samples[12]);
    it.mutable_samples_ns()->Assign(samples.begin(), samples.end());
    for (int64_t& sample : samples) sample = std::abs(sample - it.median_ns());
    std::sort(samples.begin(), samples.end());
    it.set_mad_ns(samples[12]);
    CompactSamples(it);
    squares += std::pow(static_cast<double>(GetTimeNs(it)) - 1e6, 2);
    errors += EstimateTimeErrorNs(it);
  }
  EXPECT_NEAR(errors / kRows / std::sqrt(squares / kRows), 1, 0.1);
}

// Low deciles of 101 normal samples, likewise.
TEST(RowTimeTest, TheErrorIsHowLowDecilesScatter) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> bell(1e6, 4e4);
  constexpr int kRows = 2000;
  double sum = 0;
  double squares = 0;
  double errors = 0;
  for (int row = 0; row < kRows; ++row) {
    std::vector<int64_t> samples(101);
    for (int64_t& it : samples) it = std::llround(bell(random));
    std::sort(samples.begin(), samples.end());
    v1::Measurement it;
    it.set_minimum_ns(samples[0]);
    it.set_median_ns(samples[50]);
    it.set_time_ns(samples[10]);
    it.mutable_samples_ns()->Assign(samples.begin(), samples.end());
    for (int64_t& sample : samples) sample = std::abs(sample - it.median_ns());
    std::sort(samples.begin(), samples.end());
    it.set_mad_ns(samples[50]);
    CompactSamples(it);
    const auto time = static_cast<double>(GetTimeNs(it));
    sum += time;
    squares += time * time;
    errors += EstimateTimeErrorNs(it);
  }
  const double mean = sum / kRows;
  const double scatter = std::sqrt(squares / kRows - mean * mean);
  EXPECT_NEAR(errors / kRows / scatter, 1, 0.1);
}

}  // namespace
}  // namespace meshwright::store
