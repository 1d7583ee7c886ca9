#include "base/trace_context.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace meshwright::base {
namespace {

constexpr char kTrace[] = "4bf92f3577b34da6a3ce929d0e0e4736";
const std::string& Known() {
  static const auto& known =
      *new std::string(absl::StrCat("00-", kTrace, "-00f067aa0ba902b7-01"));
  return known;
}

TEST(TraceContextTest, PassesOnWhatItReads) {
  EXPECT_EQ(ParseTraceparent(Known()), Known());
  EXPECT_EQ(ExtractTraceId(Known()), kTrace);
  EXPECT_EQ(ExtractTraceId(""), "");
}

TEST(TraceContextTest, OfALaterVersionItTakesWhatItKnows) {
  std::string later = Known();
  later.replace(0, 2, "cc");
  EXPECT_EQ(ParseTraceparent(later), Known());
  EXPECT_EQ(ParseTraceparent(later + "-what-the-future-brings"), Known());
  EXPECT_FALSE(ParseTraceparent(later + "x").has_value());
}

TEST(TraceContextTest, RefusesWhatIsNone) {
  for (const auto& [at, text] :
       std::initializer_list<std::pair<size_t, const char*>>{
           {0, "ff"},
           {0, "0G"},
           {2, "_"},
           {3, "4B"},
           {35, "_"},
           {52, "_"},
           {53, "0\n"},
           {3, "00000000000000000000000000000000"},
           {36, "0000000000000000"}}) {
    std::string wrong = Known();
    wrong.replace(at, std::string(text).size(), text);
    EXPECT_FALSE(ParseTraceparent(wrong).has_value()) << wrong;
  }
  EXPECT_FALSE(ParseTraceparent("").has_value());
  EXPECT_FALSE(ParseTraceparent(Known() + "-more").has_value());
  EXPECT_FALSE(
      ParseTraceparent(Known().substr(0, Known().size() - 1)).has_value());
}

TEST(TraceContextTest, ANewOneIsWellFormedAndNew) {
  const std::string made = NewTraceparent();
  EXPECT_EQ(ParseTraceparent(made), made);
  EXPECT_NE(ExtractTraceId(made), ExtractTraceId(NewTraceparent()));
}

}  // namespace
}  // namespace meshwright::base
