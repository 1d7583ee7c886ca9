#include "base/toml/toml_string.h"

#include <gtest/gtest.h>

namespace meshwright::base {
namespace {

TEST(TomlStringTest, ATextIsOneQuotedLine) {
  EXPECT_EQ(WriteTomlString("ann"), "\"ann\"");
  EXPECT_EQ(WriteTomlString("a \"b\"\nc\\d"), R"("a \"b\"\nc\\d")");
}

}  // namespace
}  // namespace meshwright::base
