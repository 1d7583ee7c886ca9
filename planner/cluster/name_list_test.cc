#include "planner/cluster/name_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshwright::cluster {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(NameListTest, Brackets) {
  EXPECT_THAT(*ExpandNames("gpu"), ElementsAre("gpu"));
  EXPECT_THAT(*ExpandNames("gpu[0-2]"), ElementsAre("gpu0", "gpu1", "gpu2"));
  EXPECT_THAT(*ExpandNames("h[1,3]/g[0-1]x"),
              ElementsAre("h1/g0x", "h1/g1x", "h3/g0x", "h3/g1x"));
  EXPECT_THAT(*ExpandNames("n[08-10]"), ElementsAre("n08", "n09", "n10"));
  EXPECT_EQ(ExpandNames("h[0-511]/g[0-7]")->size(), 4096u);
  EXPECT_THAT(*ExpandNames("g[18446744073709551614-18446744073709551615]"),
              ElementsAre("g18446744073709551614", "g18446744073709551615"));
}

TEST(NameListTest, WhatIsNoListIsQuoted) {
  for (const char* const pattern :
       {"g[0-", "g0]", "g[]", "g[3-1]", "g[a]", "g[-1]", "g[0-1-2]",
        "g[0-4096]", "g[0-99][0-99]", "g[[0]]", "g[99999999999999999999]",
        "g[0-18446744073709551615]", "g[000000000000000000000-1]"}) {
    const auto names = ExpandNames(pattern);
    EXPECT_EQ(names.status().code(), absl::StatusCode::kInvalidArgument)
        << pattern;
    EXPECT_THAT(std::string(names.status().message()), HasSubstr(pattern));
  }
}

}  // namespace
}  // namespace meshwright::cluster
