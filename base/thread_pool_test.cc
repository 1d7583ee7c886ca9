#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <vector>

namespace meshwright::base {
namespace {

TEST(ThreadPoolTest, IsIdleOnceEveryCallIsOver) {
  std::atomic<int> calls = 0;
  std::latch go_on{1};
  ThreadPool pool(2);
  EXPECT_TRUE(pool.AwaitIdle(absl::ZeroDuration()));
  for (int i = 0; i < 10; ++i) {
    pool.Post([&] {
      go_on.wait();
      ++calls;
    });
  }
  EXPECT_FALSE(pool.AwaitIdle(absl::ZeroDuration()));
  go_on.count_down();
  EXPECT_TRUE(pool.AwaitIdle(absl::InfiniteDuration()));
  EXPECT_EQ(calls, 10);
}

TEST(ParallelForTest, EveryIndexIsVisitedOncePerCall) {
  for (const int count : {0, 1, 2, 1000}) {
    std::vector<std::atomic<int>> visits(count);
    ParallelFor(count, [&](int i) { ++visits[i]; });
    ParallelFor(
        count, [&](int i) { ++visits[i]; }, 3);
    for (const auto& it : visits) EXPECT_EQ(it, 2);
  }
}

}  // namespace
}  // namespace meshwright::base
