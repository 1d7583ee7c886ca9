#include "base/link.h"

#include <gtest/gtest.h>

namespace meshwright::base {
namespace {

double Seconds(std::string_view name, int64_t devices) {
  return EstimateCollectiveSeconds(ParseCollective(name), devices, 8,
                                   {.alpha = 2, .beta = 3});
}

TEST(LinkTest, TheFormulasOfTheDesign) {
  EXPECT_DOUBLE_EQ(Seconds("all-gather", 4), 3 * (2 + 24));
  EXPECT_DOUBLE_EQ(Seconds("reduce-scatter", 4), 3 * (2 + 6));
  EXPECT_DOUBLE_EQ(Seconds("all-reduce", 4), 6 * (2 + 6));
  EXPECT_DOUBLE_EQ(Seconds("all-to-all", 4), 3 * (2 + 6));
  EXPECT_DOUBLE_EQ(Seconds("collective-permute", 4), 26);
  EXPECT_DOUBLE_EQ(Seconds("all-gather", 1), 0);
}

}  // namespace
}  // namespace meshwright::base
