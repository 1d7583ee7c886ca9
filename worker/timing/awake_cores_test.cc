#include "worker/timing/awake_cores.h"

#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>

#include "absl/time/clock.h"

namespace meshwright::worker::timing {
namespace {

absl::Duration ProcessTime() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return absl::DurationFromTimespec(now);
}

// Turns until this thread has used so much CPU time.
void Work(absl::Duration time) {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  const absl::Duration end = absl::DurationFromTimespec(now) + time;
  while (absl::DurationFromTimespec(now) < end) {
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  }
}

// On a loaded machine the idle threads may get little: they are waited for.
TEST(AwakeCoresTest, WhatKeepsThemAwakeIsNoWork) {
  const std::vector<int> allowed = CoresToKeepAwake();
  if (allowed.empty()) GTEST_SKIP() << "no cores may be kept awake here";
  AwakeCores cores(allowed);
  EXPECT_EQ(cores.count(), static_cast<int>(allowed.size()));
  const absl::Duration process = ProcessTime();
  const absl::Duration work = cores.WorkTime();
  {
    const StayAwake awake(cores);
    while (ProcessTime() - process - (cores.WorkTime() - work) <
           absl::Milliseconds(20)) {
      absl::SleepFor(absl::Milliseconds(1));
    }
    Work(absl::Milliseconds(5));
  }
  const absl::Duration worked = cores.WorkTime() - work;
  EXPECT_GE(worked, absl::Milliseconds(5));
  // Of the loop above, some microseconds a turn.
  EXPECT_LT(worked, ProcessTime() - process);
}

TEST(AwakeCoresTest, AsleepTheyUseNoTime) {
  const std::vector<int> allowed = CoresToKeepAwake();
  if (allowed.empty()) GTEST_SKIP() << "no cores may be kept awake here";
  AwakeCores cores(allowed);
  for (int i = 0; i < 100; ++i) const StayAwake awake(cores);
  const auto others = [&] { return ProcessTime() - cores.WorkTime(); };
  // The last to notice does so when it next gets a core; awake they would
  // take what this thread leaves.
  absl::Duration least = absl::InfiniteDuration();
  for (int i = 0; i < 100 && least > absl::Milliseconds(1); ++i) {
    const absl::Duration before = others();
    absl::SleepFor(absl::Milliseconds(20));
    least = std::min(least, others() - before);
  }
  EXPECT_LT(least, absl::Milliseconds(1));
}

TEST(AwakeCoresTest, WithoutCoresAllTimeIsWork) {
  AwakeCores none({});
  EXPECT_EQ(none.count(), 0);
  const absl::Duration before = ProcessTime();
  const absl::Duration work = none.WorkTime();
  EXPECT_GE(work, before);
  EXPECT_LE(work, ProcessTime());
}

}  // namespace
}  // namespace meshwright::worker::timing
