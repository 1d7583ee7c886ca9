#include "base/parallel_for.h"

#include <gtest/gtest.h>

namespace meshwright::base {
namespace {

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
