#include "cli/program/limit_seconds.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <string>

namespace meshwright::cli {
namespace {

bool Takes(const std::string& text) {
  CLI::App app;
  double seconds = 0;
  LimitSeconds(app.add_option("--seconds", seconds), 0.1, 3600.0);
  try {
    app.parse("--seconds=" + text);
  } catch (const CLI::ParseError&) {
    return false;
  }
  return true;
}

TEST(LimitSecondsTest, NoNumberLiesInNoRange) {
  EXPECT_TRUE(Takes("0.1"));
  EXPECT_TRUE(Takes("3600"));
  for (const char* wrong :
       {"0", "3601", "nan", "-nan", "NaN", "inf", "-1", "soon"}) {
    EXPECT_FALSE(Takes(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace meshwright::cli
