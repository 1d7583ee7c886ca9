// Every stress module ends in a profile space or in one sentence. Whatever
// takes more than linear time does not end before the test's time limit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/ir/load/load.h"
#include "coordinator/ir/module.h"
#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/profile_space.h"
#include "tests/stress/modules.h"

namespace meshwright::stress {
namespace {

constexpr int kSize = 30'000;

class StressModuleTest : public testing::TestWithParam<StressModule> {};

TEST_P(StressModuleTest, EndsInAnAnalysisOrOneSentence) {
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
  space::KeyContext context;
  context.mesh = {1, 2};
  const space::ProfileSpace space =
      space::BuildProfileSpace(*analysis, context);
  EXPECT_EQ(space.types.size(), analysis->types.size());
}

INSTANTIATE_TEST_SUITE_P(All, StressModuleTest,
                         testing::ValuesIn(StressModules()),
                         [](const auto& info) {
                           return std::string(info.param.name);
                         });

}  // namespace
}  // namespace meshwright::stress
