#include "worker/service/idle_watch.h"

#include <gtest/gtest.h>

namespace meshwright::worker {
namespace {

constexpr bool kUsed = true;
constexpr bool kIdle = false;

class IdleWatchTest : public testing::Test {
 protected:
  // One look a second; what it says of the last.
  bool Look(bool is_used, int seconds = 1) {
    bool serves = false;
    for (int i = 0; i < seconds; ++i) {
      now_ += absl::Seconds(1);
      serves = watch_.Look(now_, is_used);
    }
    return serves;
  }

  absl::Time now_ = absl::UnixEpoch();
  IdleWatch watch_{{.idle_for = absl::Seconds(10),
                    .busy_for = absl::Seconds(1),
                    .longest_gap = absl::Seconds(5)}};
};

TEST_F(IdleWatchTest, ServesOnceNobodyUsedTheDeviceForLong) {
  EXPECT_FALSE(Look(kIdle, 10));
  EXPECT_TRUE(Look(kIdle));
}

TEST_F(IdleWatchTest, ANewUserBeginsTheWaitAnew) {
  Look(kIdle, 9);
  Look(kUsed);
  EXPECT_FALSE(Look(kIdle, 10));
  EXPECT_TRUE(Look(kIdle));
}

TEST_F(IdleWatchTest, LeavesForAUserWhoStays) {
  Look(kIdle, 11);
  EXPECT_TRUE(Look(kUsed));
  EXPECT_TRUE(Look(kIdle));
  EXPECT_TRUE(Look(kUsed));
  EXPECT_FALSE(Look(kUsed));
}

TEST_F(IdleWatchTest, LeavesAtOnceWhereItIsToldTo) {
  IdleWatch watch(
      {.idle_for = absl::ZeroDuration(), .busy_for = absl::ZeroDuration()});
  EXPECT_TRUE(watch.Look(now_, kIdle));
  EXPECT_FALSE(watch.Look(now_, kUsed));
  EXPECT_TRUE(watch.Look(now_, kIdle));
}

TEST_F(IdleWatchTest, TimeWithoutLooksIsNotIdleTime) {
  Look(kIdle, 5);
  now_ += absl::Hours(1);
  EXPECT_FALSE(Look(kIdle, 10));
  EXPECT_TRUE(Look(kIdle));
}

}  // namespace
}  // namespace meshwright::worker
