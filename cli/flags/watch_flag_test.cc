#include "cli/flags/watch_flag.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <sstream>
#include <vector>

namespace meshwright::cli {
namespace {

using testing::HasSubstr;

// Gives one answer after another. The last one comes with a SIGINT, and again
// until that is heard.
class Answers {
 public:
  explicit Answers(std::vector<absl::StatusOr<Listing>> answers)
      : answers_(std::move(answers)) {}

  absl::StatusOr<Listing> operator()() {
    if (++asked_ == answers_.size()) {
      EXPECT_EQ(std::raise(SIGINT), 0);
    }
    return answers_[std::min(asked_, answers_.size()) - 1];
  }
  size_t asked() const { return asked_; }

 private:
  std::vector<absl::StatusOr<Listing>> answers_;
  size_t asked_ = 0;
};

Listing List(const std::string& text) { return {text + "\n", {{"a", text}}}; }

constexpr WatchFlag kOften = {0.001};

TEST(WatchFlagTest, WithoutTheFlagOneAnswerIsShown) {
  std::ostringstream text, json;
  const auto ask = [] { return List("x"); };
  EXPECT_TRUE(ShowListing(text, false, {}, ask).ok());
  EXPECT_EQ(text.str(), "x\n");
  EXPECT_TRUE(ShowListing(json, true, {}, ask).ok());
  EXPECT_EQ(json.str(), "{\n  \"a\": \"x\"\n}\n");
}

TEST(WatchFlagTest, JsonIsOneLineAnAnswerUntilSigint) {
  Answers answers({List("x"), List("y"), List("z")});
  std::ostringstream out;
  EXPECT_TRUE(ShowListing(out, true, kOften, std::ref(answers)).ok());
  EXPECT_GE(answers.asked(), 3);
  EXPECT_THAT(out.str(), testing::StartsWith("{\"a\":\"x\"}\n{\"a\":\"y\"}\n"));
}

TEST(WatchFlagTest, TheLastAnswerStandsWhileTheCoordinatorIsAway) {
  Answers answers(
      {List("x"), absl::UnavailableError("the connection broke"), List("z")});
  std::ostringstream out;
  EXPECT_TRUE(ShowListing(out, false, kOften, std::ref(answers)).ok());
  EXPECT_THAT(out.str(), HasSubstr("\x1b[Hno newer answer: the connection "
                                   "broke\x1b[K\nx\x1b[K\n"));
}

TEST(WatchFlagTest, TheFirstAnswerAndOtherErrorsEndIt) {
  std::ostringstream out;
  EXPECT_EQ(ShowListing(out, false, kOften,
                        [] { return absl::UnavailableError("nobody answers"); })
                .code(),
            absl::StatusCode::kUnavailable);
  Answers refused({List("x"), absl::PermissionDeniedError("another role")});
  EXPECT_EQ(ShowListing(out, false, kOften, std::ref(refused)).code(),
            absl::StatusCode::kPermissionDenied);
}

}  // namespace
}  // namespace meshwright::cli
