#include "base/exit_status.h"

#include <gtest/gtest.h>

namespace meshwright::base {
namespace {

// Scripts tell by it whether trying again is any use.
TEST(ExitStatusTest, BadInputAndFailedWorkAreApart) {
  EXPECT_EQ(ToExitStatus(absl::OkStatus()), 0);
  for (const auto code :
       {absl::StatusCode::kInvalidArgument, absl::StatusCode::kOutOfRange,
        absl::StatusCode::kNotFound, absl::StatusCode::kPermissionDenied,
        absl::StatusCode::kFailedPrecondition, absl::StatusCode::kAlreadyExists,
        absl::StatusCode::kResourceExhausted,
        absl::StatusCode::kUnimplemented}) {
    EXPECT_EQ(ToExitStatus(absl::Status(code, "")), 2) << code;
  }
  for (const auto code :
       {absl::StatusCode::kUnavailable, absl::StatusCode::kInternal,
        absl::StatusCode::kDataLoss, absl::StatusCode::kDeadlineExceeded,
        absl::StatusCode::kCancelled, absl::StatusCode::kAborted,
        absl::StatusCode::kUnknown}) {
    EXPECT_EQ(ToExitStatus(absl::Status(code, "")), 1) << code;
  }
}

}  // namespace
}  // namespace meshwright::base
