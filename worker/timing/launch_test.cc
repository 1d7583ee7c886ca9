#include "worker/timing/launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshwright::worker::timing {
namespace {

using testing::ElementsAre;

v1::Measurement Row() {
  v1::Measurement row;
  row.set_minimum_ns(20'000);
  row.set_median_ns(21'000);
  row.set_time_ns(20'100);
  row.set_mad_ns(50);
  row.add_samples_ns(21'000);
  row.add_samples_ns(20'000);
  return row;
}

TEST(LaunchTest, ItIsTakenOutOfAllTimes) {
  v1::Measurement row = Row();
  TakeOutLaunch(absl::Microseconds(3), row);
  EXPECT_EQ(row.launch_ns(), 3'000);
  EXPECT_EQ(row.minimum_ns(), 17'000);
  EXPECT_EQ(row.median_ns(), 18'000);
  EXPECT_EQ(row.time_ns(), 17'100);
  EXPECT_EQ(row.mad_ns(), 50);
  EXPECT_THAT(row.samples_ns(), ElementsAre(18'000, 17'000));
}

// A short kernel, whose span was seen.
TEST(LaunchTest, WhatWasSeenIsTakenOutWhole) {
  v1::Measurement row = Row();
  TakeOutLaunch(absl::Microseconds(19.5), row);
  EXPECT_EQ(row.launch_ns(), 19'500);
  EXPECT_EQ(row.minimum_ns(), 500);
}

TEST(LaunchTest, AProgramIsNeverAllLaunch) {
  v1::Measurement row = Row();
  TakeOutLaunch(LimitLaunch(absl::Microseconds(50), row), row);
  EXPECT_EQ(row.launch_ns(), 18'000);
  EXPECT_EQ(row.minimum_ns(), 2'000);
  EXPECT_EQ(row.median_ns(), 3'000);
  row = Row();
  row.set_minimum_ns(500);
  TakeOutLaunch(LimitLaunch(absl::Microseconds(50), row), row);
  EXPECT_EQ(row.launch_ns(), 0);
  EXPECT_EQ(row.minimum_ns(), 500);
}

TEST(LaunchTest, WithoutALaunchTimesStay) {
  v1::Measurement row = Row();
  TakeOutLaunch(absl::ZeroDuration(), row);
  EXPECT_EQ(row.launch_ns(), 0);
  EXPECT_EQ(row.minimum_ns(), 20'000);
  EXPECT_EQ(row.median_ns(), 21'000);
}

}  // namespace
}  // namespace meshwright::worker::timing
