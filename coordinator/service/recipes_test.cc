#include "coordinator/service/recipes.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "coordinator/segmenter/test_steps.h"
#include "coordinator/space/switches.h"

namespace meshwright::service {
namespace {

using segmenter::SegmentSwitch;

class SwitchRecipeTest : public testing::TestWithParam<const char*> {
 protected:
  SwitchRecipeTest() {
    segmenter::StrategyRequest request;
    request.switches = {SegmentSwitch::kFullySharded,
                        SegmentSwitch::kOptimizerSharded,
                        SegmentSwitch::kSequence};
    analysis_ = *segmenter::AnalyzeSample(GetParam(), {1, 2}, request);
    space::KeyContext context;
    context.mesh = {1, 2};
    space_ = BuildProfileSpace(analysis_, context);
    halves_.emplace(analysis_, space_, WorthCutting(analysis_, space_));
    recipes_ = MakeRecipes(analysis_, space_, *halves_,
                           std::vector<int>(space_.types.size(), 0));
  }

  segmenter::Analysis analysis_;
  space::ProfileSpace space_;
  std::optional<Halves> halves_;
  std::vector<TypeRecipe> recipes_;
};

TEST_P(SwitchRecipeTest, ASwitchIsToldFromTheOneOfItsKindThatSavesMost) {
  int told = 0;
  for (size_t t = 0; t < recipes_.size(); ++t) {
    const auto& configurations = space_.types[t].configurations;
    const std::vector<int> plain = space::PlainOnes(space_.types[t]);
    for (size_t c = 0; c < plain.size(); ++c) {
      const SwitchRecipe* const recipe =
          recipes_[t].Switched(static_cast<int>(c));
      if (recipe == nullptr) continue;
      ++told;
      const SwitchRecipe& it = *recipe;
      EXPECT_EQ(it.plain, plain[c]);
      EXPECT_EQ(it.reference_plain, plain[it.reference]);
      EXPECT_EQ(configurations[it.reference].segment_switch,
                configurations[c].segment_switch);
      EXPECT_LE(std::abs(it.share), 1);
      const std::set<int> required(recipes_[t].required.begin(),
                                   recipes_[t].required.end());
      EXPECT_TRUE(required.contains(it.reference));
      EXPECT_TRUE(required.contains(it.reference_plain));
      EXPECT_FALSE(required.contains(static_cast<int>(c)));
    }
  }
  EXPECT_GT(told, 0);
}

// What is neither required nor a twin's is told in exactly one way.
TEST_P(SwitchRecipeTest, EveryConfigurationHasOneSource) {
  for (size_t t = 0; t < recipes_.size(); ++t) {
    const TypeRecipe& it = recipes_[t];
    if (it.twin >= 0) continue;
    const std::vector<int> plain = space::PlainOnes(space_.types[t]);
    const std::set<int> required(it.required.begin(), it.required.end());
    for (size_t c = 0; c < plain.size(); ++c) {
      const bool is_plain = plain[c] == static_cast<int>(c);
      const bool by_halves = halves_->IsCut(static_cast<int>(t)) && is_plain;
      const bool by_sum = !it.sums.empty() && !it.sums[c].empty();
      const bool by_switch = it.Switched(static_cast<int>(c)) != nullptr;
      if (required.contains(static_cast<int>(c))) {
        EXPECT_FALSE(by_sum || by_switch) << t << " " << c;
      } else {
        EXPECT_EQ(by_halves + by_sum + by_switch, 1) << t << " " << c;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, SwitchRecipeTest,
                         testing::Values("llama_2l", "t5_tiny", "albert_tiny",
                                         "scan_tiny", "moe_tiny"));

}  // namespace
}  // namespace meshwright::service
