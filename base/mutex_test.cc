#include "base/mutex.h"

#include <gtest/gtest.h>

#include <thread>

namespace meshwright::base {
namespace {

// Two counters that each wait for the other, woken by what the other changes
// before it waits itself.
TEST(MutexTest, AChangeBeforeAWaitWakesTheOthers) {
  Mutex mutex;
  int turn = 0;
  const auto play = [&](int self) {
    const MutexLock lock(&mutex);
    for (int round = 0; round < 1000; ++round) {
      const auto mine = [&] { return turn % 2 == self; };
      mutex.Await(absl::Condition(&mine));
      ++turn;
    }
  };
  {
    const std::jthread other([&] { play(1); });
    play(0);
  }
  EXPECT_EQ(turn, 2000);
}

TEST(MutexTest, AWaitEndsWithItsTimeout) {
  Mutex mutex;
  bool held = false;
  const MutexLock lock(&mutex);
  EXPECT_FALSE(
      mutex.AwaitWithTimeout(absl::Condition(&held), absl::Milliseconds(1)));
  held = true;
  EXPECT_TRUE(
      mutex.AwaitWithTimeout(absl::Condition(&held), absl::InfiniteDuration()));
}

}  // namespace
}  // namespace meshwright::base
