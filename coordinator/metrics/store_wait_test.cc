#include "coordinator/metrics/store_wait.h"

#include <gtest/gtest.h>

#include "absl/synchronization/notification.h"

namespace meshwright::metrics {
namespace {

TEST(StoreWaitTest, HandsAnAnswerOn) {
  StoreWait wait(absl::InfiniteDuration());
  EXPECT_EQ(*wait.Ask<int>([] { return absl::StatusOr<int>(7); }), 7);
  EXPECT_TRUE(absl::IsNotFound(wait.Ask<int>([] {
                                     return absl::StatusOr<int>(
                                         absl::NotFoundError("no such row"));
                                   })
                                   .status()));
}

TEST(StoreWaitTest, NobodyGetsAnAnswerToTheQuestionBefore) {
  absl::Notification answers;
  StoreWait wait(absl::Milliseconds(1));
  const auto late = wait.Ask<int>([&] {
    answers.WaitForNotification();
    return absl::StatusOr<int>(1);
  });
  EXPECT_TRUE(absl::IsUnavailable(late.status()));
  const auto refused = wait.Ask<int>([] { return absl::StatusOr<int>(2); });
  EXPECT_TRUE(absl::IsUnavailable(refused.status()));
  answers.Notify();
  ASSERT_TRUE(wait.AwaitIdle(absl::InfiniteDuration()));
  const auto next = wait.Ask<int>([] { return absl::StatusOr<int>(3); });
  EXPECT_EQ(next.value_or(3), 3);  // in time or not
}

}  // namespace
}  // namespace meshwright::metrics
