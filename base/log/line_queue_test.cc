#include "base/log/line_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace meshwright::base {
namespace {

using testing::ElementsAre;

TEST(LineQueueTest, LinesAreWrittenInTheirOrderAndAtTheEnd) {
  std::vector<std::string> written;
  {
    LineQueue queue(100, [&](const std::string& line, int64_t dropped) {
      EXPECT_EQ(dropped, 0);
      written.push_back(line);
    });
    for (const char* line : {"a", "b"}) EXPECT_TRUE(queue.Add(line));
    EXPECT_TRUE(queue.Flush(absl::InfiniteDuration()));
    EXPECT_THAT(written, ElementsAre("a", "b"));
    EXPECT_TRUE(queue.Add("c"));
  }
  EXPECT_THAT(written, ElementsAre("a", "b", "c"));
}

TEST(LineQueueTest, AWriteThatStandsStillHoldsNobodyUp) {
  std::latch begun{1}, goes_on{1};
  std::vector<std::string> written;
  LineQueue queue(2, [&](const std::string& line, int64_t dropped) {
    if (written.empty()) {
      begun.count_down();
      goes_on.wait();
    }
    written.push_back(absl::StrCat(dropped, " ", line));
  });
  EXPECT_TRUE(queue.Add("a"));
  begun.wait();
  EXPECT_TRUE(queue.Add("b"));
  EXPECT_TRUE(queue.Add("c"));
  EXPECT_FALSE(queue.Add("d"));
  EXPECT_FALSE(queue.Add("e"));
  EXPECT_FALSE(queue.Flush(absl::Milliseconds(10)));
  goes_on.count_down();
  EXPECT_TRUE(queue.Flush(absl::InfiniteDuration()));
  EXPECT_TRUE(queue.Add("f"));
  EXPECT_TRUE(queue.Flush(absl::InfiniteDuration()));
  EXPECT_THAT(written, ElementsAre("0 a", "2 b", "0 c", "0 f"));
}

}  // namespace
}  // namespace meshwright::base
