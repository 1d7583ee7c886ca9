#include "worker/runner/group_timing.h"

#include <gtest/gtest.h>

namespace meshwright::worker::runner {
namespace {

v1::Outcome ClassifyFailure(v1::Outcome outcome, const absl::Status& status) {
  return MakeFailureRow("key", outcome, status).outcome();
}

TEST(FailureRowTest, MemoryThatOthersHaveIsNoRowOfTheStore) {
  const absl::Status full = absl::ResourceExhaustedError("no memory");
  EXPECT_EQ(ClassifyFailure(v1::COMPILE_FAILED, full), v1::OUT_OF_MEMORY);
  EXPECT_EQ(ClassifyFailure(v1::TRANSIENT, full), v1::OUT_OF_MEMORY);
  EXPECT_EQ(ClassifyFailure(v1::CRASHED, full), v1::TRANSIENT);
  EXPECT_EQ(ClassifyFailure(v1::CRASHED, absl::InternalError("x")),
            v1::CRASHED);
  EXPECT_EQ(MakeFailureRow("key", v1::CRASHED, full).reason(), "no memory");
}

}  // namespace
}  // namespace meshwright::worker::runner
