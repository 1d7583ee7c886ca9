#include "profiledb/postgres/failures.h"

#include <gtest/gtest.h>

#include "profiledb/store/away.h"

namespace meshwright::postgres {
namespace {

TEST(FailuresTest, TheStateDecidesTheCode) {
  struct Case {
    const char* state;
    absl::StatusCode code;
    bool is_away = false;
  };
  const Case cases[] = {
      {"", absl::StatusCode::kUnavailable, true},
      {"57P01", absl::StatusCode::kUnavailable, true},
      {"57P03", absl::StatusCode::kUnavailable, true},
      {"08006", absl::StatusCode::kUnavailable, true},
      {"53300", absl::StatusCode::kUnavailable, true},
      {"55P03", absl::StatusCode::kUnavailable, true},
      {"40001", absl::StatusCode::kUnavailable, true},
      {"53100", absl::StatusCode::kResourceExhausted, true},
      {"53200", absl::StatusCode::kResourceExhausted, true},
      {"54000", absl::StatusCode::kResourceExhausted},
      {"28P01", absl::StatusCode::kPermissionDenied},
      {"42501", absl::StatusCode::kPermissionDenied},
      {"25006", absl::StatusCode::kPermissionDenied, true},
      {"3D000", absl::StatusCode::kInvalidArgument},
      {"XX001", absl::StatusCode::kDataLoss},
      {"42601", absl::StatusCode::kInternal},
  };
  for (const Case& c : cases) {
    const absl::Status status = ToStatus("postgres:///a", c.state, "why\nmore");
    EXPECT_EQ(status.code(), c.code) << c.state;
    EXPECT_EQ(store::IsAway(status), c.is_away) << c.state;
    EXPECT_NE(status.message().find("postgres:///a"), std::string::npos);
    EXPECT_EQ(status.message().find('\n'), std::string::npos);
  }
}

TEST(FailuresTest, TheStateIsTakenOutOfAMessage) {
  std::string message =
      "connection to server at \"a\" (::1), port 5432 failed: FATAL:  28P01: "
      "password authentication failed for user \"u\"";
  EXPECT_EQ(TakeState(message), "28P01");
  EXPECT_EQ(message,
            "connection to server at \"a\" (::1), port 5432 failed: FATAL: "
            "password authentication failed for user \"u\"");
  for (const char* const without :
       {"", "FATAL:  ", "FATAL:  28P0", "FATAL:  password: no", ":  28P01 x"}) {
    std::string text = without;
    EXPECT_EQ(TakeState(text), "");
    EXPECT_EQ(text, without);
  }
}

}  // namespace
}  // namespace meshwright::postgres
