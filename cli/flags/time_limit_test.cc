#include "cli/flags/time_limit.h"

#include <gtest/gtest.h>

#include <csignal>

#include "base/stop_wait.h"

namespace meshwright::cli {
namespace {

bool AwaitStop(const TimeLimit& limit) {
  return !base::WaitFor(absl::Minutes(1), limit.token());
}

TEST(TimeLimitTest, PassesByItself) {
  const TimeLimit limit(absl::Milliseconds(1));
  EXPECT_TRUE(AwaitStop(limit));
  EXPECT_TRUE(limit.has_passed());
}

TEST(TimeLimitTest, AnInterruptComesFirst) {
  for (const auto time :
       {std::optional(absl::Hours(1)), std::optional<absl::Duration>()}) {
    const TimeLimit limit(time);
    ASSERT_EQ(std::raise(SIGINT), 0);
    EXPECT_TRUE(AwaitStop(limit));
    EXPECT_FALSE(limit.has_passed());
  }
}

}  // namespace
}  // namespace meshwright::cli
