// Every odd module ends in an analysis or in one sentence. What would take more
// than linear time does not end before the test's time limit.
#include "tests/odd_modules/odd_modules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/ir/load/load.h"
#include "coordinator/ir/module.h"
#include "coordinator/segmenter/analysis.h"

namespace meshwright::odd {
namespace {

constexpr int kSize = 30'000;

class OddModuleTest : public testing::TestWithParam<OddModule> {};

TEST_P(OddModuleTest, EndsInAnAnalysisOrOneSentence) {
  const std::string bytes = GetParam().make(kSize).SerializeAsString();
  auto module = ir::LoadModule(bytes);
  if (!module.ok()) {
    EXPECT_EQ(module.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(module.status().message(), testing::HasSubstr("instruction"));
    return;
  }
  const auto analysis = segmenter::Analyze(*std::move(module), {1, 2});
  if (!analysis.ok()) {
    EXPECT_EQ(analysis.status().code(), absl::StatusCode::kInvalidArgument)
        << analysis.status();
    return;
  }
  EXPECT_FALSE(analysis->plan.segments.empty());
}

INSTANTIATE_TEST_SUITE_P(All, OddModuleTest, testing::ValuesIn(OddModules()),
                         [](const auto& info) {
                           return std::string(info.param.name);
                         });

}  // namespace
}  // namespace meshwright::odd
