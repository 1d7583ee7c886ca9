#include "base/enum_words.h"

#include <gtest/gtest.h>

namespace meshwright::base {
namespace {

TEST(EnumWordsTest, NamesAreInLowerCase) {
  EXPECT_EQ(LowerName("GOOD"), "good");
  EXPECT_EQ(LowerName("QUALITY_UNSPECIFIED"), "unknown");
  EXPECT_EQ(ToWords("BUSY_MACHINE"), "busy machine");
}

}  // namespace
}  // namespace meshwright::base
