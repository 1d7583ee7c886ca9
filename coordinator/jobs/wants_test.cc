#include "coordinator/jobs/wants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshwright::jobs {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(WantsTest, AProgramIsWantedUntilTheLastWantOfItGoes) {
  Wants wants;
  EXPECT_FALSE(wants.Contains("a"));
  const WantId first = wants.Add({"a", "b", "b"}, {.plan = "1", .priority = 2});
  const WantId second = wants.Add({"a"}, {.plan = "2", .priority = -3});
  EXPECT_EQ(wants.FindFirst("a"), first);
  EXPECT_EQ(wants.FindPriority("a"), 2);
  EXPECT_EQ(wants.origin(first).plan, "1");
  EXPECT_THAT(wants.Remove(first), ElementsAre("a", "b", "b"));
  EXPECT_THAT(wants.Remove(first), IsEmpty());
  EXPECT_FALSE(wants.Contains("b"));
  EXPECT_EQ(wants.FindFirst("a"), second);
  EXPECT_EQ(wants.FindPriority("a"), -3);
  wants.Remove(second);
  EXPECT_FALSE(wants.Contains("a"));
  EXPECT_EQ(wants.FindPriority("a"), std::nullopt);
}

}  // namespace
}  // namespace meshwright::jobs
