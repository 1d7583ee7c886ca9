#include "cli/program/seconds_within.h"

#include <gtest/gtest.h>

namespace meshwright::cli {
namespace {

TEST(SecondsWithinTest, NoNumberLiesInNoRange) {
  const CLI::Validator check = SecondsWithin(0.1, 3600.0);
  EXPECT_EQ(check("0.1"), "");
  EXPECT_EQ(check("3600"), "");
  for (const char* wrong :
       {"0", "3601", "nan", "-nan", "NaN", "inf", "-1", "soon", ""}) {
    EXPECT_NE(check(wrong), "") << wrong;
  }
}

}  // namespace
}  // namespace meshwright::cli
