#include "coordinator/estimation/halves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "coordinator/estimation/estimates.h"
#include "coordinator/estimation/measured_cost.h"
#include "coordinator/jobs/testing/fake_measurer.h"
#include "coordinator/segmenter/testing/test_steps.h"

namespace meshwright::estimation {
namespace {

using segmenter::SegmentTypeId;

class HalvesTest : public testing::Test {
 protected:
  void Load(const std::string& model) {
    analysis_ = *segmenter::AnalyzeSample(model, {1, 2});
    space::KeyContext context;
    context.mesh = {1, 2};
    space_ = BuildProfileSpace(analysis_, context);
  }

  void Measure(const std::vector<v1::Program>& programs) {
    jobs::FakeMeasurer measurer;
    measurer.machine = 1;
    const auto rows = measurer.MeasureAll(programs);
    ASSERT_TRUE(rows.ok()) << rows.status();
    for (const auto& [key, row] : *rows) results_[key] = row;
  }

  segmenter::Analysis analysis_;
  space::ProfileSpace space_;
  store::Results results_;
};

TEST_F(HalvesTest, NineAndNineEstimateEightyOne) {
  Load("llama_2l");
  const Halves halves(analysis_, space_, FindTypesToCut(analysis_, space_));
  int cut = 0;
  for (SegmentTypeId t; t < space_.types.size(); ++t) {
    if (!halves.IsCut(t)) continue;
    ++cut;
    EXPECT_EQ(space_.types[t].configurations.size(), 81u);
  }
  EXPECT_EQ(cut, 1);
  // Resharding of the inner boundary is that of the outer ones.
  std::set<std::string> known;
  for (const v1::Program& it : space_.programs) known.insert(it.key());
  int beside = 0;
  for (const v1::Program& it : halves.programs()) {
    beside += !known.contains(it.key());
  }
  EXPECT_EQ(beside, 18);
}

TEST_F(HalvesTest, TheHalvesAddUpToTheWhole) {
  for (const char* model : {"llama_2l", "gpt2_2l", "bert_2l", "moe_2l"}) {
    Load(model);
    const Halves halves(analysis_, space_, FindTypesToCut(analysis_, space_));
    Measure(space_.programs);
    Measure(halves.programs());
    for (SegmentTypeId t; t < space_.types.size(); ++t) {
      if (!halves.IsCut(t)) continue;
      const auto& configurations = space_.types[t].configurations;
      for (int c = 0; c < static_cast<int>(configurations.size()); ++c) {
        const auto sum = halves.Sum(t, c, results_);
        const auto whole =
            FindMeasuredCost(space_, configurations[c], results_);
        ASSERT_TRUE(sum.has_value() && whole.has_value());
        EXPECT_NEAR(static_cast<double>(sum->time.count()) /
                        static_cast<double>(whole->time.count()),
                    1, 0.03)
            << model << ": " << configurations[c].describe;
      }
    }
  }
}

TEST_F(HalvesTest, WithoutItsProgramsThereIsNoSum) {
  Load("llama_2l");
  const Halves halves(analysis_, space_, FindTypesToCut(analysis_, space_));
  for (SegmentTypeId t; t < space_.types.size(); ++t) {
    if (!halves.IsCut(t)) continue;
    EXPECT_FALSE(halves.Sum(t, 0, results_).has_value());
    EXPECT_EQ(halves.Failure(t, 0, results_), nullptr);
  }
}

TEST_F(HalvesTest, FewConfigurationsAreNotCut) {
  Load("llama_2l");
  const Halves halves(analysis_, space_,
                      std::vector<bool>(space_.types.size(), false));
  EXPECT_TRUE(halves.programs().empty());
  for (SegmentTypeId t; t < space_.types.size(); ++t) {
    EXPECT_FALSE(halves.IsCut(t));
  }
}

}  // namespace
}  // namespace meshwright::estimation
