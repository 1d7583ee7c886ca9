#include "worker/timing/sample_set.h"

#include <gtest/gtest.h>

namespace meshwright::worker::timing {
namespace {

SampleSet MakeSamples(const std::vector<std::pair<int, int>>& wall_and_cpu_ms) {
  SampleSet samples;
  for (const auto& [wall, cpu] : wall_and_cpu_ms) {
    samples.Add({absl::Milliseconds(wall), absl::Milliseconds(cpu)});
  }
  return samples;
}

TEST(SampleSetTest, EmptySaysNothing) {
  const Summary summary = SampleSet().Summarize(0.8);
  EXPECT_TRUE(summary.kept.empty());
  EXPECT_EQ(summary.minimum, absl::ZeroDuration());
}

TEST(SampleSetTest, MinimumMedianAndDeviation) {
  const Summary summary =
      MakeSamples({{5, 5}, {1, 1}, {9, 9}, {2, 2}}).Summarize(0.8);
  EXPECT_EQ(summary.minimum, absl::Milliseconds(1));
  EXPECT_EQ(summary.median, absl::Microseconds(3500));
  EXPECT_EQ(summary.mad, absl::Milliseconds(2));  // of 2.5, 1.5, 1.5, 5.5
  // 1.858 * 2 / 3.5 / 2: half as sure as a median of four times the samples.
  EXPECT_NEAR(summary.error, 0.531, 0.001);
  EXPECT_EQ(summary.dropped, 0);
}

TEST(SampleSetTest, EqualSamplesAreSure) {
  EXPECT_EQ(MakeSamples({{5, 5}, {5, 5}}).Summarize(0.8).error, 0);
}

TEST(SampleSetTest, SlowPeriodIsSetAside) {
  // Two cores' worth of work; in the slow period it gets one.
  const Summary summary =
      MakeSamples({{10, 19}, {20, 20}, {10, 20}, {21, 20}, {11, 21}})
          .Summarize(0.8);
  EXPECT_EQ(summary.dropped, 2);
  EXPECT_EQ(summary.kept.size(), 3u);
  EXPECT_EQ(summary.median, absl::Milliseconds(10));
}

// A tenth of the way from the first to the last by rank.
TEST(SampleSetTest, TheLowTimeIsTheFirstDecile) {
  const Summary few = MakeSamples({{20, 0}, {10, 0}}).Summarize(0);
  EXPECT_EQ(few.low, few.minimum + (few.median - few.minimum) / 5);
  SampleSet many;
  for (int i = 20; i >= 0; --i) {
    many.Add({absl::Milliseconds(100 + i), absl::ZeroDuration()});
  }
  EXPECT_EQ(many.Summarize(0).low, absl::Milliseconds(102));
}

// One in two launches is slow; of a sample of four, two are.
TEST(SampleSetTest, MeansOfSamplesAreSteadier) {
  std::vector<absl::Duration> samples;
  for (int i = 0; i < 12; ++i) {
    samples.push_back(absl::Microseconds(i % 2 == 0 ? 50 : 150));
  }
  EXPECT_EQ(FindLowOfMeans(samples, 1), absl::Microseconds(50));
  EXPECT_EQ(FindLowOfMeans(samples, 4), absl::Microseconds(100));
  EXPECT_EQ(FindLowOfMeans(samples, 100), absl::Microseconds(100));
  EXPECT_EQ(FindLowOfMeans({}, 4), absl::ZeroDuration());
}

TEST(SampleSetTest, MostlySlowStillFindsTheQuietSamples) {
  const Summary summary =
      MakeSamples({{10, 20}, {20, 20}, {20, 20}, {20, 20}, {10, 20}})
          .Summarize(0.8);
  EXPECT_EQ(summary.dropped, 3);
}

TEST(SampleSetTest, AProgramThatWaitsByNatureIsKept) {
  const Summary summary =
      MakeSamples({{10, 2}, {10, 2}, {11, 2}, {10, 2}}).Summarize(0.8);
  EXPECT_EQ(summary.dropped, 0);
}

TEST(SampleSetTest, WithoutCpuTimesNothingIsDropped) {
  EXPECT_EQ(MakeSamples({{10, 0}, {20, 0}}).Summarize(0.8).dropped, 0);
  EXPECT_EQ(MakeSamples({{10, 10}, {20, 1}}).Summarize(0).dropped, 0);
}

}  // namespace
}  // namespace meshwright::worker::timing
