#include "base/sharding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshwright::base {
namespace {

using testing::HasSubstr;

TEST(ShardingSpecTest, ReadsWhatThePaperWrites) {
  EXPECT_EQ(*ParseSpec("RS01R", "s"), (ShardingSpec{{}, {0, 1}, {}}));
  EXPECT_EQ(*ParseSpec("S1RR", "s"), (ShardingSpec{{1}, {}, {}}));
  EXPECT_EQ(*ParseSpec("S2S01", "s"), (ShardingSpec{{2}, {0, 1}}));
  EXPECT_EQ(*ParseSpec("", "s"), ShardingSpec{});
  for (const char* text : {"R", "S0", "RS01R", "S10S2RR"}) {
    EXPECT_EQ(FormatSpec(*ParseSpec(text, "s")), text);
  }
}

TEST(ShardingSpecTest, ReadsTheFormByMeshAxis) {
  EXPECT_EQ(ToSpec({1, kCopies, 1}, 3), (ShardingSpec{{}, {0, 2}, {}}));
  EXPECT_EQ(ToSpec({}, 1), (ShardingSpec{{}}));
}

TEST(ShardingSpecTest, RefusesTheRest) {
  const auto message = [](const char* text) {
    const auto spec = ParseSpec(text, "src_spec");
    EXPECT_EQ(spec.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(spec.status().message());
  };
  EXPECT_THAT(message("RS"), HasSubstr("src_spec is \"RS\": an S names no"));
  EXPECT_THAT(message("SR"), HasSubstr("an S names no mesh axis"));
  EXPECT_THAT(message("R0"), HasSubstr("an axis stands without an S"));
  EXPECT_THAT(message("0R"), HasSubstr("an axis stands without an S"));
  EXPECT_THAT(message("RX"), HasSubstr("'X' is neither"));
  EXPECT_THAT(message("r\n"), HasSubstr("is neither"));
}

}  // namespace
}  // namespace meshwright::base
