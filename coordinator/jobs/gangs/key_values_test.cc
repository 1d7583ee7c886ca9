#include "coordinator/jobs/gangs/key_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace meshwright::jobs::gangs {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

TEST(KeyValuesTest, AGetFindsWhatWasPut) {
  KeyValues values;
  EXPECT_THAT(*values.Put("key", "value"), IsEmpty());
  const auto answer = *values.Get({1, 7}, "key", /*waits=*/true);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->rank, 1);
  EXPECT_EQ(answer->message.value().number(), 7);
  EXPECT_TRUE(answer->message.value().is_there());
  EXPECT_EQ(answer->message.value().value(), "value");
}

TEST(KeyValuesTest, APutAnswersAllThatWaited) {
  KeyValues values;
  EXPECT_FALSE(values.Get({1, 7}, "key", /*waits=*/true)->has_value());
  EXPECT_FALSE(values.Get({2, 3}, "key", /*waits=*/true)->has_value());
  const auto answers = values.Put("key", "value");
  ASSERT_TRUE(answers.ok());
  ASSERT_THAT(*answers, SizeIs(2));
  EXPECT_EQ((*answers)[1].rank, 2);
  EXPECT_EQ((*answers)[1].message.value().number(), 3);
  EXPECT_EQ((*answers)[1].message.value().value(), "value");
  // They have their answers.
  EXPECT_THAT(*values.Put("key", "another"), IsEmpty());
}

TEST(KeyValuesTest, AGetThatDoesNotWaitIsToldOfAKeyThatIsNotThere) {
  KeyValues values;
  const auto answer = *values.Get({0, 1}, "key", /*waits=*/false);
  ASSERT_TRUE(answer.has_value());
  EXPECT_FALSE(answer->message.value().is_there());
}

TEST(KeyValuesTest, MembersThatPutWithoutEndAreRefused) {
  KeyValues values;
  const std::string large(KeyValues::kMaxBytes / 4, 'x');
  for (const char* key : {"a", "b", "c"}) {
    ASSERT_TRUE(values.Put(key, large).ok());
  }
  EXPECT_EQ(values.Put("d", large).status().code(),
            absl::StatusCode::kResourceExhausted);
  // A second value takes the place of the first.
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(values.Put("a", large).ok());
}

TEST(KeyValuesTest, ARoundThatAllHaveReadGoes) {
  KeyValues values;
  const auto is_there = [&](const std::string& key) {
    return (*values.Get({0, 1}, key, /*waits=*/false))
        ->message.value()
        .is_there();
  };
  const std::string large(KeyValues::kMaxBytes / 8, 'x');
  ASSERT_TRUE(values.Put("meshwright/executable/0", "compiled").ok());
  for (int round = 0; round < 20; ++round) {
    for (int rank = 0; rank < 2; ++rank) {
      ASSERT_TRUE(
          values.Put(absl::StrCat("meshwright/", round, "/", rank), large).ok())
          << round;
    }
  }
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_FALSE(is_there(absl::StrCat("meshwright/17/", rank)));
    EXPECT_TRUE(is_there(absl::StrCat("meshwright/18/", rank)));
    EXPECT_TRUE(is_there(absl::StrCat("meshwright/19/", rank)));
  }
  EXPECT_TRUE(is_there("meshwright/executable/0"));
}

TEST(KeyValuesTest, MembersThatWaitWithoutEndAreRefused) {
  KeyValues values;
  const std::string large(KeyValues::kMaxBytes / 5, 'x');
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(values.Get({0, i}, large, /*waits=*/true).ok());
  }
  // Those that are answered wait no more.
  ASSERT_THAT(*values.Put(large, "value"), SizeIs(3));
  const std::string another(KeyValues::kMaxBytes / 5, 'y');
  for (int i = 3; i < 6; ++i) {
    ASSERT_TRUE(values.Get({0, i}, another, /*waits=*/true).ok());
  }
  EXPECT_EQ(values.Get({0, 6}, another, /*waits=*/true).status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace meshwright::jobs::gangs
