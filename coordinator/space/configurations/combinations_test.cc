#include "coordinator/space/configurations/combinations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "coordinator/segmenter/baseline_strategies.h"
#include "coordinator/segmenter/testing/test_steps.h"

namespace meshwright::space {
namespace {

using segmenter::Analysis;
using segmenter::AnalyzeSample;
using segmenter::SegmentIndex;
using ::testing::Contains;

TEST(CombinationsTest, FewAreAll) {
  const Analysis analysis = *AnalyzeSample("llama_2l", {1, 2});
  for (SegmentIndex s; s < analysis.plan.segments.size(); ++s) {
    const Combinations found = FindCombinations(analysis, s);
    EXPECT_EQ(found.all, static_cast<int64_t>(found.choices.size()));
    EXPECT_TRUE(std::is_sorted(found.choices.begin(), found.choices.end()));
  }
}

TEST(CombinationsTest, EqualBlocksOfALargeSegmentDecideAlike) {
  const Analysis layers = *AnalyzeSample("llama_2l", {1, 2});
  const int blocks = static_cast<int>(layers.blocks.blocks.size());
  ASSERT_EQ(blocks, 9);
  const Analysis analysis = segmenter::Recut(
      layers, std::vector<segmenter::Segment>{segmenter::Segment{0, blocks}});
  SegmentIndex segment;  // behind the prologue
  while (analysis.plan.segments[segment].last_block == 0) ++segment;
  const Combinations found = FindCombinations(analysis, segment);
  EXPECT_EQ(found.all, 19683);            // 3^9
  EXPECT_EQ(found.choices.size(), 243u);  // of a layer and the head
  for (const std::vector<int>& choice : found.choices) {
    ASSERT_EQ(choice.size(), 9u);
    for (int b = 0; b < 4; ++b) EXPECT_EQ(choice[b], choice[b + 4]);
  }
}

// A scan over layers where both mesh axes are open: 9^4 of its four blocks.
TEST(CombinationsTest, TheBaselinesAndTheirNeighboursAreAlwaysThere) {
  segmenter::StrategyRequest request;
  request.open_outer_axes = true;
  const Analysis analysis = *AnalyzeSample("scan_tiny", {2, 2}, request);
  const std::vector<int> baselines[] = {
      segmenter::ChooseDataParallel(analysis),
      segmenter::ChooseTensorParallel(analysis)};
  bool large = false;
  for (SegmentIndex s; s < analysis.plan.segments.size(); ++s) {
    const segmenter::Segment& it = analysis.plan.segments[s];
    if (it.first_block == it.last_block) continue;
    const Combinations found = FindCombinations(analysis, s);
    EXPECT_LE(found.choices.size(), 2 * kMaxCombinations);
    large |= found.all > kMaxCombinations;
    for (const std::vector<int>& by_block : baselines) {
      for (int b = it.first_block; b < it.last_block; ++b) {
        const size_t count = analysis.strategies[b].strategies.size();
        for (size_t i = 0; i < count; ++i) {
          std::vector<int> choice(by_block.begin() + it.first_block,
                                  by_block.begin() + it.last_block);
          choice[b - it.first_block] = static_cast<int>(i);
          EXPECT_THAT(found.choices, Contains(choice));
        }
      }
    }
  }
  EXPECT_TRUE(large);
}

}  // namespace
}  // namespace meshwright::space
