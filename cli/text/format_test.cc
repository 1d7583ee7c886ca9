#include "cli/text/format.h"

#include <gtest/gtest.h>

namespace meshwright::cli {
namespace {

TEST(FormatTest, ChangesHaveASign) {
  EXPECT_EQ(FormatChange(0.0015), "+1.5 ms");
  EXPECT_EQ(FormatChange(-2), "-2.0 s");
  EXPECT_EQ(FormatBytesChange(-1536), "-1.5 KiB");
  EXPECT_EQ(FormatBytesChange(0), "+0 B");
}

TEST(FormatTest, RunsOfNumbersAreRanges) {
  EXPECT_EQ(FormatRanges({}), "");
  EXPECT_EQ(FormatRanges({4}), "4");
  EXPECT_EQ(FormatRanges({0, 3, 4, 5, 9, 10}), "0, 3-5, 9-10");
}

TEST(FormatTest, FiguresForPeople) {
  EXPECT_EQ(FormatBytes(512), "512 B");
  EXPECT_EQ(FormatBytes(int64_t{3} << 29), "1.5 GiB");
  EXPECT_EQ(FormatSeconds(0.0273), "27.3 ms");
  EXPECT_EQ(FormatSeconds(3.25e-5), "32.5 us");
  EXPECT_EQ(FormatSeconds(600), "10 min");
}

}  // namespace
}  // namespace meshwright::cli
