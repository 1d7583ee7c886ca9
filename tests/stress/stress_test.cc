// Every stress module ends in a plan's figures or in one sentence. Whatever
// takes more than linear time does not end before the test's time limit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/file.h"
#include "tests/stress/modules.h"
#include "tests/stress/walk_all.h"

namespace meshwright::stress {
namespace {

constexpr int kSize = 30'000;

// Modules that are refused, and what the sentence says; all others end in
// figures.
const std::map<std::string, std::string>& Refusals() {
  static const auto* const refusals = new std::map<std::string, std::string>{
      {"HugeReducer", "inlining the calls makes the module more than 16 times"},
      {"CallsDouble", "inlining the calls makes the module more than 16 times"},
      {"CallsNest", "nests computations deeper than 100"},
  };
  return *refusals;
}

class StressModuleTest : public testing::TestWithParam<StressModule> {};

TEST_P(StressModuleTest, EndsInFiguresOrOneSentence) {
  const absl::Status status =
      WalkAll(GetParam().make(kSize).SerializeAsString());
  const auto refusal = Refusals().find(GetParam().name);
  if (refusal == Refusals().end()) {
    EXPECT_EQ(status, absl::OkStatus());
    return;
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_THAT(status.message(), testing::HasSubstr(refusal->second));
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
