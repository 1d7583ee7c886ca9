#include "planner/problem/known_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshwright::problem {
namespace {

using nlohmann::json;

absl::Status Check(const char* text, const std::string& field = "") {
  return CheckNames(json::parse(text), field,
                    {"nodes", "memory_limit_bytes", "fixed", "forbidden",
                     "self_edges", "tied"});
}

TEST(KnownNamesTest, WhatIsNearlyAFieldIsRefused) {
  for (const char* name :
       {"memory_limit", "memory_limit_byte", "memoryLimitBytes", "Fixed",
        "forbiden", "forbidden_configs", "self_edge", "selfedges", "Tied"}) {
    const std::string text = std::string("{\"") + name + "\": 1}";
    const absl::Status status = Check(text.c_str(), "nodes[2]");
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << name;
    EXPECT_THAT(std::string(status.message()),
                testing::StartsWith(std::string("nodes[2].") + name +
                                    " is no field that is read; write "));
  }
}

TEST(KnownNamesTest, NotesAreLeftAlone) {
  for (const char* text :
       {R"({"name": 1, "comment": 2, "seed": 3, "version": 4, "tie": 5})",
        R"({"nodes": [], "node": 1, "nodes_note": 2})", "{}", "[]", "3",
        R"({"memory_limit_bytes": 1, "memory_limit": 2})"}) {
    EXPECT_TRUE(Check(text).ok()) << text << Check(text);
  }
}

}  // namespace
}  // namespace meshwright::problem
