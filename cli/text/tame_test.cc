#include "cli/text/tame.h"

#include <gtest/gtest.h>

namespace meshwright::cli {
namespace {

TEST(TameTest, NothingIsLeftThatATerminalObeys) {
  EXPECT_EQ(Tame("plan-1\nplan-2\r\tplan-3"), "plan-1 plan-2  plan-3");
  EXPECT_EQ(Tame("\x1b[2J\x07\x7f"), "?[2J??");
  EXPECT_EQ(Tame("a\xc2\x9b"
                 "2J"),
            "a??2J");
  EXPECT_EQ(Tame(std::string("a\0b", 3)), "a?b");
}

TEST(TameTest, OtherTextStaysAsItIs) {
  for (const char* const text :
       {"", "a b", "61 \xc2\xb0.", "g\xc3\xbcnther", "\xe6\x97\xa5", "\xc2"}) {
    EXPECT_EQ(Tame(text), text);
  }
}

}  // namespace
}  // namespace meshwright::cli
