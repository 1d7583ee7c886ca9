// Every stress module ends in a plan's figures or in one sentence. Whatever
// takes more than linear time does not end before the test's time limit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "tests/stress/modules.h"
#include "tests/stress/walk_all.h"

namespace meshwright::stress {
namespace {

constexpr int kSize = 30'000;

class StressModuleTest : public testing::TestWithParam<StressModule> {};

TEST_P(StressModuleTest, EndsInFiguresOrOneSentence) {
  const absl::Status status =
      WalkAll(GetParam().make(kSize).SerializeAsString());
  if (status.ok()) return;
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_THAT(status.message(), testing::Not(testing::IsEmpty()));
}

INSTANTIATE_TEST_SUITE_P(All, StressModuleTest,
                         testing::ValuesIn(StressModules()),
                         [](const auto& info) {
                           return std::string(info.param.name);
                         });

// A GPT with dropout: every round of eight unrolled splits reads both halves of
// the one before twice.
TEST(StressSampleTest, ChainedKeysEndInFigures) {
  const auto bytes =
      base::ReadFile("tests/testdata/stress/chained_keys_tiny.hlo.pb");
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_EQ(WalkAll(*bytes), absl::OkStatus());
}

}  // namespace
}  // namespace meshwright::stress
