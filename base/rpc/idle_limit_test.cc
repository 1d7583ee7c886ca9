#include "base/rpc/idle_limit.h"

#include <gtest/gtest.h>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"

namespace meshwright::base {
namespace {

constexpr absl::Duration kPatience = absl::Milliseconds(20);

TEST(IdleLimitTest, AStreamThatWaitsTooLongIsEnded) {
  absl::Notification ended;
  IdleLimit limit(kPatience, [&] { ended.Notify(); });
  const absl::Time began = absl::Now();
  limit.Await();
  EXPECT_TRUE(limit.Note());
  limit.Await();
  ended.WaitForNotification();
  EXPECT_FALSE(limit.Note());
  limit.Await();
  EXPECT_FALSE(limit.Note());
  EXPECT_GE(absl::Now() - began, kPatience);
}

// Another one, which waits, tells the time.
TEST(IdleLimitTest, AStreamThatDoesNotWaitGoesOn) {
  absl::Notification never, ended;
  IdleLimit busy(kPatience, [&] { never.Notify(); });
  busy.Await();
  busy.Note();
  IdleLimit limit(3 * kPatience, [&] { ended.Notify(); });
  limit.Await();
  ended.WaitForNotification();
  EXPECT_FALSE(never.HasBeenNotified());
}

TEST(IdleLimitTest, ALimitThatGoesEndsNothing) {
  absl::Notification ended;
  bool is_called = false;
  {
    IdleLimit gone(kPatience, [&] { is_called = true; });
    gone.Await();
  }
  IdleLimit limit(3 * kPatience, [&] { ended.Notify(); });
  limit.Await();
  ended.WaitForNotification();
  EXPECT_FALSE(is_called);
}

}  // namespace
}  // namespace meshwright::base
