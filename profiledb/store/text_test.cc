#include "profiledb/store/text.h"

#include <gtest/gtest.h>

namespace meshwright::store {
namespace {

TEST(TextTest, ATextStaysAsItIs) {
  for (const char* text : {"", "token:1a", "K\xc3\xb6ln", "a \"b\" \n"}) {
    EXPECT_TRUE(IsText(text));
    EXPECT_EQ(CleanText(text), text);
  }
}

TEST(TextTest, ALineHasNoControlCharacters) {
  for (const char* line : {"", "a b", "K\xc3\xb6ln"}) {
    EXPECT_TRUE(IsOneLine(line)) << line;
  }
  for (const std::string_view none :
       {std::string_view("a\0z", 3), std::string_view("a\n"),
        std::string_view("\x1b[2J"), std::string_view("\x7f")}) {
    EXPECT_FALSE(IsOneLine(none));
  }
}

TEST(TextTest, WhatIsNoneIsEscaped) {
  EXPECT_EQ(CleanText("a\xff"), "a\\xff");
  EXPECT_EQ(CleanText(std::string_view("a\0z", 3)), "a\\x00z");
}

TEST(TextTest, AMendedTextHasAQuestionMarkForEachByteThatIsNone) {
  EXPECT_EQ(MendText("K\xc3\xb6ln\n"), "K\xc3\xb6ln\n");
  EXPECT_EQ(MendText("\xb6ln \xff\xe2\x82 \xc3"), "?ln ??? ?");
  EXPECT_EQ(MendText(std::string_view("a\0", 2)), "a?");
  for (const char* wrong : {"\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80",
                            "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5"}) {
    EXPECT_FALSE(IsText(wrong));
    EXPECT_EQ(MendText(wrong),
              std::string(std::string_view(wrong).size(), '?'));
  }
}

TEST(TextTest, ALongOneIsCutBetweenCharacters) {
  EXPECT_EQ(CleanText(std::string(5000, 'a')).size(), kMaximumTextBytes);
  EXPECT_EQ(CleanText(std::string(kMaximumTextBytes - 1, 'a') + "\xc3\xb6"),
            std::string(kMaximumTextBytes - 1, 'a'));
}

}  // namespace
}  // namespace meshwright::store
