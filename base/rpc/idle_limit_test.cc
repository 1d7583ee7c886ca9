#include "base/rpc/idle_limit.h"

#include <gtest/gtest.h>

#include <memory>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"

namespace meshwright::base {
namespace {

constexpr absl::Duration kPatience = absl::Milliseconds(20);

class IdleLimitTest : public testing::Test {
 protected:
  const std::shared_ptr<int> stream_ = std::make_shared<int>();
};

TEST_F(IdleLimitTest, AStreamThatWaitsTooLongIsEnded) {
  absl::Notification ended;
  IdleLimit limit(kPatience, stream_, [&] { ended.Notify(); });
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
TEST_F(IdleLimitTest, AStreamThatDoesNotWaitGoesOn) {
  absl::Notification never, ended;
  IdleLimit busy(kPatience, stream_, [&] { never.Notify(); });
  busy.Await();
  busy.Note();
  IdleLimit limit(3 * kPatience, stream_, [&] { ended.Notify(); });
  limit.Await();
  ended.WaitForNotification();
  EXPECT_FALSE(never.HasBeenNotified());
}

TEST_F(IdleLimitTest, ALimitThatGoesEndsNothing) {
  absl::Notification ended;
  bool is_called = false;
  {
    IdleLimit gone(kPatience, stream_, [&] { is_called = true; });
    gone.Await();
  }
  IdleLimit limit(3 * kPatience, stream_, [&] { ended.Notify(); });
  limit.Await();
  ended.WaitForNotification();
  EXPECT_FALSE(is_called);
}

TEST_F(IdleLimitTest, AStreamThatIsGoneIsNotEnded) {
  absl::Notification never, ended;
  IdleLimit late(kPatience, std::make_shared<int>(), [&] { never.Notify(); });
  late.Await();
  IdleLimit limit(3 * kPatience, stream_, [&] { ended.Notify(); });
  limit.Await();
  ended.WaitForNotification();
  EXPECT_FALSE(never.HasBeenNotified());
}

class WriteLimitTest : public IdleLimitTest {
 protected:
  absl::Notification cancelled_, finished_;
  WriteLimit limit_{kPatience, stream_, [this] { cancelled_.Notify(); },
                    [this] { finished_.Notify(); }};
};

TEST_F(WriteLimitTest, ACallWhoseWriteIsTakenGoesOn) {
  absl::Notification ended;
  limit_.Await();
  EXPECT_TRUE(limit_.Note());
  IdleLimit limit(3 * kPatience, stream_, [&] { ended.Notify(); });
  limit.Await();
  ended.WaitForNotification();
  EXPECT_FALSE(cancelled_.HasBeenNotified());
  EXPECT_FALSE(finished_.HasBeenNotified());
}

// gRPC's context, by which it is cancelled, lives until it is finished.
TEST_F(WriteLimitTest, ACallIsFinishedOnceItIsCancelledAndItsWriteIsDone) {
  limit_.Await();
  cancelled_.WaitForNotification();
  EXPECT_FALSE(finished_.HasBeenNotified());
  EXPECT_FALSE(limit_.Note());
  finished_.WaitForNotification();
}

}  // namespace
}  // namespace meshwright::base
