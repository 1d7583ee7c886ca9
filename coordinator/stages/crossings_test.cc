#include "coordinator/stages/crossings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "coordinator/segmenter/testing/test_steps.h"

namespace meshwright::stages {
namespace {

struct Crossed {
  segmenter::Analysis analysis;
  StepPasses passes;
  int64_t micro_batches = 1;
  std::vector<Cut> cuts;
};

Crossed CrossedIn(const std::string& model) {
  Crossed made;
  auto analysis = segmenter::AnalyzeSample(model, {1, 2});
  EXPECT_TRUE(analysis.ok()) << analysis.status();
  made.analysis = *std::move(analysis);
  made.passes = FindPasses(made.analysis);
  made.micro_batches = CountOwnMicroBatches(made.analysis);
  made.cuts = FindCuts(made.analysis, made.passes, made.micro_batches);
  return made;
}

int Count(const Cut& cut, bool backward) {
  return static_cast<int>(std::count_if(
      cut.crossings.begin(), cut.crossings.end(),
      [&](const Crossing& it) { return it.backward == backward; }));
}

// Between two layers one activation goes and one gradient comes back, of the
// same size.
TEST(CrossingsTest, BetweenLayersOneTensorGoesEachWay) {
  for (const char* model : {"gpt2_tiny", "gpt2_4l", "vit_tiny"}) {
    const Crossed it = CrossedIn(model);
    for (size_t c = 1; c + 1 < it.cuts.size(); ++c) {
      const Cut& cut = it.cuts[c];
      EXPECT_TRUE(cut.possible) << model << " cut " << c;
      ASSERT_EQ(Count(cut, false), 1) << model << " cut " << c;
      ASSERT_EQ(Count(cut, true), 1) << model << " cut " << c;
      EXPECT_EQ(it.analysis.module.at(cut.crossings[0].value).shape,
                it.analysis.module.at(cut.crossings[1].value).shape);
    }
  }
}

// In a U-shaped model more crosses in the middle than between neighbours, and
// what crosses several cuts is there at every one between its ends.
TEST(CrossingsTest, SkipConnectionsCrossEveryCutBetween) {
  const Crossed it = CrossedIn("unet_tiny");
  int long_ones = 0;
  for (size_t c = 0; c < it.cuts.size(); ++c) {
    for (const Crossing& crossing : it.cuts[c].crossings) {
      const auto at = static_cast<int>(c);
      const auto low = static_cast<int>(std::min(crossing.from, crossing.to));
      const auto high = static_cast<int>(std::max(crossing.from, crossing.to));
      EXPECT_LE(low, at);
      EXPECT_GT(high, at);
      EXPECT_EQ(crossing.backward, crossing.from > crossing.to);
      if (high - low < 2) continue;
      ++long_ones;
      for (int between = low; between < high; ++between) {
        const auto& there = it.cuts[between].crossings;
        EXPECT_TRUE(
            std::any_of(there.begin(), there.end(), [&](const Crossing& other) {
              return other.value == crossing.value &&
                     other.backward == crossing.backward;
            }));
      }
    }
  }
  EXPECT_GT(long_ones, 4);
}

TEST(CrossingsTest, TiedParametersAreShared) {
  const Crossed gpt2 = CrossedIn("gpt2_tiny");
  const auto shared = FindShared(gpt2.analysis, gpt2.passes);
  ASSERT_EQ(shared.size(), 1u);  // the embedding, read again by the head
  EXPECT_EQ(shared[0].segments.front(), 0);
  EXPECT_EQ(shared[0].segments.back(), gpt2.analysis.graphs.size() - 1);
  EXPECT_EQ(shared[0].bytes, 64 * 32 * 4);
  const Crossed llama = CrossedIn("llama_tiny");
  EXPECT_TRUE(FindShared(llama.analysis, llama.passes).empty());
}

TEST(CrossingsTest, ALoopOverMicroBatchesIsTheirNumber) {
  EXPECT_EQ(CrossedIn("accumulate_tiny").micro_batches, 2);
  EXPECT_EQ(CrossedIn("llama_tiny").micro_batches, 1);
  // A loop over layers is none.
  EXPECT_EQ(CrossedIn("scan_tiny").micro_batches, 1);
}

}  // namespace
}  // namespace meshwright::stages
