#include "tests/bench/growth.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace meshwright {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// One a second; `mib` of the second.
template <typename Mib>
std::vector<ProcessSample> Take(int seconds, const Mib& mib) {
  std::vector<ProcessSample> samples;
  for (int i = 0; i < seconds; ++i) {
    samples.push_back({.seconds = static_cast<double>(i),
                       .resident_mib = static_cast<double>(mib(i))});
  }
  return samples;
}

TEST(GrowthTest, ALineHasItsSlope) {
  const Growth growth =
      FitGrowth(Take(3600, [](int i) { return 100 + i / 60.0; }));
  EXPECT_NEAR(growth.mib_an_hour, 60, 0.1);
  EXPECT_NEAR(growth.resident_mib, 130, 1);
  EXPECT_EQ(growth.seconds, 3599);
  EXPECT_THAT(FindGrowth(growth), HasSubstr("memory grew by 60 MiB in 3599 s"));
}

TEST(GrowthTest, PeaksAndAStepAtTheEndAreNoGrowth) {
  const Growth growth = FitGrowth(Take(3600, [](int i) {
    return 100 + (i % 7 == 0 ? 50 : 0) + (i > 3000 ? 40 : 0);
  }));
  EXPECT_NEAR(growth.mib_an_hour, 0, 0.1);
  EXPECT_THAT(FindGrowth(growth), IsEmpty());
}

TEST(GrowthTest, ALeakBelowASawtoothIsFound) {
  const Growth growth =
      FitGrowth(Take(1200, [](int i) { return 100 + i % 30 + i / 10.0; }));
  EXPECT_NEAR(growth.mib_an_hour, 360, 10);
  EXPECT_THAT(FindGrowth(growth), HasSubstr("more than 64 MiB"));
}

TEST(GrowthTest, WhatIsAllowedGrowsWithTheTimeFromAFloorOn) {
  EXPECT_EQ(AllowedGrowth(2400), 8);
  EXPECT_EQ(AllowedGrowth(3600), 8);
  EXPECT_EQ(AllowedGrowth(10 * 3600), 20);
  EXPECT_EQ(AllowedGrowth(20 * 3600), 40);
  // Filling is no growth.
  EXPECT_EQ(AllowedGrowth(20), 64);
}

// The figure names the slope beyond which a run fails.
TEST(GrowthTest, TheSlopeThatIsAllowedIsTheLimit) {
  for (const double seconds : {20.0, 2400.0, 20000.0}) {
    const double slope = AllowedAnHour(seconds);
    EXPECT_THAT(FindGrowth({.seconds = seconds, .mib_an_hour = 0.99 * slope}),
                IsEmpty());
    EXPECT_THAT(FindGrowth({.seconds = seconds, .mib_an_hour = 1.01 * slope}),
                HasSubstr("memory grew"));
  }
  EXPECT_EQ(AllowedAnHour(2400), 12);
  EXPECT_EQ(AllowedAnHour(10 * 3600), 2);
  EXPECT_EQ(AllowedAnHour(0), 0);
}

TEST(GrowthTest, OneSampleOrNoneIsNoGrowth) {
  EXPECT_EQ(FitGrowth({}).mib_an_hour, 0);
  EXPECT_EQ(FitGrowth({{.resident_mib = 5}}).mib_an_hour, 0);
}

TEST(GrowthTest, FilesAndThreadsThatStayAreNamed) {
  Growth growth;
  growth.before = {.descriptors = 40, .threads = 30};
  growth.after = {.descriptors = 44, .threads = 34};
  EXPECT_THAT(FindGrowth(growth), IsEmpty());
  growth.after.threads = 35;
  EXPECT_THAT(FindGrowth(growth), HasSubstr("30 threads before and 35 after"));
  growth.after.descriptors = 90;
  EXPECT_THAT(FindGrowth(growth),
              HasSubstr("40 open files before and 90 after"));
}

TEST(GrowthTest, AProcessIsReadByItsNumber) {
  const auto before = ReadProcess(getpid());
  ASSERT_TRUE(before.ok()) << before.status();
  EXPECT_GT(before->resident_mib, 0);
  EXPECT_GE(before->threads, 1);
  const int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(ReadProcess(getpid())->descriptors, before->descriptors + 1);
  close(file);
  EXPECT_FALSE(ReadProcess(0).ok());
}

}  // namespace
}  // namespace meshwright
