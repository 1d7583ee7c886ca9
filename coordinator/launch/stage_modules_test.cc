// Inputs of modules are outputs of earlier ones, for samples and cuts of all
// kinds; that they compute the step is tests/integration/launch_test.cc.
#include "coordinator/launch/stage_modules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "coordinator/segmenter/testing/test_steps.h"
#include "coordinator/stages/crossings.h"

namespace meshwright::launch {
namespace {

using ir::ValueId;
using segmenter::Analysis;
using segmenter::SegmentIndex;

// One stage per so many segments, where a cut is possible.
std::vector<SegmentIndex> CutEvery(const Analysis& analysis, size_t segments) {
  const auto cuts = stages::FindCuts(analysis, stages::FindPasses(analysis), 1);
  std::vector<SegmentIndex> first(1);
  for (size_t c = 0; c < cuts.size(); ++c) {
    const SegmentIndex next(c + 1);
    if (cuts[c].possible && next - first.back() >= segments) {
      first.push_back(next);
    }
  }
  return first;
}

bool IsArgument(const Analysis& analysis, ValueId id) {
  return analysis.module.at(id).opcode == ir::Opcode::kParameter;
}

void ExpectClosed(const Analysis& analysis,
                  const std::vector<StageModule>& modules) {
  std::set<ValueId> made;
  std::set<ValueId> sums;
  std::set<Place> places;
  for (const StageModule& module : modules) {
    EXPECT_TRUE(places.insert(module.place).second);
    for (const ValueId id : module.part.entering) {
      EXPECT_TRUE(IsArgument(analysis, id) || made.contains(id) ||
                  (module.place.pass == Pass::kUpdate && sums.contains(id)))
          << analysis.module.at(id).name() << " of stage " << module.place.stage
          << " " << NamePlace(module.place);
    }
    for (const ValueId id : module.part.leaving) {
      EXPECT_TRUE(made.insert(id).second);
    }
    for (const ValueId id : module.part.summed) {
      EXPECT_TRUE(sums.insert(id).second);
    }
  }
  for (const ValueId id : analysis.module.outputs) {
    EXPECT_TRUE(IsArgument(analysis, id) || made.contains(id));
  }
}

class StageModulesTest : public testing::TestWithParam<const char*> {};

TEST_P(StageModulesTest, TakeWhatEarlierOnesMake) {
  const auto analysis = segmenter::AnalyzeSample(GetParam(), {1, 2});
  ASSERT_TRUE(analysis.ok()) << analysis.status();
  const std::vector<space::Rematerialization> rematerializations(
      analysis->graphs.size());
  for (const int segments : {1, 2, 100}) {
    for (const bool delays : {false, true}) {
      const auto first = CutEvery(*analysis, segments);
      const auto places =
          PlaceValues(*analysis, stages::FindPasses(*analysis), first, delays);
      ASSERT_TRUE(places.ok()) << places.status();
      for (const int micro_batches : {1, 2}) {
        SCOPED_TRACE(testing::Message() << first.size() << " stages, "
                                        << micro_batches << " micro-batches");
        const auto modules =
            FindModules(*analysis, *places, rematerializations, micro_batches);
        ASSERT_TRUE(modules.ok()) << modules.status();
        ExpectClosed(*analysis, *modules);
        const bool sums =
            std::any_of(modules->begin(), modules->end(),
                        [](const auto& it) { return !it.part.summed.empty(); });
        EXPECT_EQ(sums, micro_batches > 1);
        const bool delayed =
            std::any_of(modules->begin(), modules->end(), [](const auto& it) {
              return it.place.pass == Pass::kBackwardWeight;
            });
        EXPECT_EQ(delayed, delays);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Samples, StageModulesTest,
                         testing::Values("gpt2_tiny", "unet_tiny", "t5_tiny",
                                         "albert_tiny", "moe_tiny",
                                         "convnet_tiny", "llama_4l"));

TEST(StageValuesTest, ALoopOverMicroBatchesIsRefused) {
  const auto analysis = segmenter::AnalyzeSample("accumulate_tiny", {1, 2});
  ASSERT_TRUE(analysis.ok()) << analysis.status();
  const auto places = PlaceValues(*analysis, stages::FindPasses(*analysis),
                                  {segmenter::SegmentIndex(0)}, false);
  EXPECT_EQ(places.status().code(), absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace meshwright::launch
