#include "base/json/parse_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "nlohmann/json.hpp"

namespace meshwright::base {
namespace {

std::string Nested(int levels) {
  return std::string(levels, '[') + std::string(levels, ']');
}

TEST(ParseJsonTest, ReadsWhatNlohmannReads) {
  for (const std::string text :
       {"3", "null", "[]", "{}", R"([1, -2, 2.5, true, "a", [[], {}]])",
        R"({"a": {"b": [1, {"c": null}]}, "c": "\u00e9"})",
        R"({"a": 18446744073709551615, "b": -9223372036854775808})"}) {
    const auto document = ParseJson(text);
    ASSERT_TRUE(document.ok()) << document.status();
    EXPECT_EQ(*document, nlohmann::json::parse(text));
  }
}

TEST(ParseJsonTest, NamesThePlaceOfAFault) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "not JSON at byte 1: unexpected ''"},
      {"{", "not JSON at byte 2: unexpected ''"},
      {"3 4", "not JSON at byte 3: unexpected '4'"},
      {R"({"a": [1, 2} )",
       "not JSON at byte 12 in the field a[2]: unexpected '}'"},
      {R"({"a": [{"b": 1}, {"b": NaN}]})",
       "not JSON at byte 24 in the field a[1].b: unexpected 'NaN}]}'; give a "
       "finite number"},
      {R"({"a": [0, Infinity]})",
       "not JSON at byte 11 in the field a[1]: unexpected 'Infinity]}'; give a "
       "finite number"},
      {R"({"a": [{"b": 1e999}]})",
       "a[0].b is 1e999, a number out of range; give a finite one"},
      {R"({"a": 1, "b": {"c": 1, "c": 2}})",
       "b.c stands twice; leave one of them"},
      {R"({"a": 1, "a": 1})", "a stands twice; leave one of them"},
  };
  for (const auto& [text, says] : cases) {
    const auto document = ParseJson(text);
    EXPECT_EQ(document.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(document.status().message(), says) << text;
  }
}

TEST(ParseJsonTest, RefusesWhatIsNestedDeeperThanAnythingNeeds) {
  EXPECT_TRUE(ParseJson(Nested(kMaxNesting)).ok());
  const auto deep = ParseJson(R"({"a": [0, )" + Nested(1'000'000) + "]}");
  EXPECT_EQ(deep.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(deep.status().message()),
              testing::AllOf(testing::StartsWith("a[1][0][0]"),
                             testing::HasSubstr("over 64 deep")));
}

}  // namespace
}  // namespace meshwright::base
