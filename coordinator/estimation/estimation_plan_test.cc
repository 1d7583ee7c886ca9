#include "coordinator/estimation/estimation_plan.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "coordinator/estimation/factors.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "coordinator/space/configurations/switches.h"

namespace meshwright::estimation {
namespace {

using segmenter::SegmentSwitch;
using segmenter::SegmentTypeId;

class EstimationPlanTest : public testing::TestWithParam<const char*> {
 protected:
  EstimationPlanTest() {
    segmenter::StrategyRequest request;
    request.switches = {SegmentSwitch::kFullySharded,
                        SegmentSwitch::kOptimizerSharded,
                        SegmentSwitch::kSequence};
    analysis_ = *segmenter::AnalyzeSample(GetParam(), {1, 2}, request);
    space::KeyContext context;
    context.mesh = {1, 2};
    space_ = BuildProfileSpace(analysis_, context);
    halves_.emplace(analysis_, space_, FindTypesToCut(analysis_, space_));
    plans_ = MakeEstimationPlans(analysis_, space_, *halves_,
                                 std::vector<int>(space_.types.size(), 0));
  }

  segmenter::Analysis analysis_;
  space::ProfileSpace space_;
  std::optional<Halves> halves_;
  std::vector<EstimationPlan> plans_;
};

TEST_P(EstimationPlanTest, ASwitchIsEstimatedFromTheOneOfItsKindThatSavesMost) {
  int estimated = 0;
  for (size_t t = 0; t < plans_.size(); ++t) {
    const auto& configurations = space_.types[t].configurations;
    const std::vector<int> plain =
        space::FindPlainConfigurations(space_.types[t]);
    for (size_t c = 0; c < plain.size(); ++c) {
      const SwitchEstimation* const plan =
          plans_[t].Switched(static_cast<int>(c));
      if (plan == nullptr) continue;
      ++estimated;
      const SwitchEstimation& it = *plan;
      EXPECT_EQ(it.plain, plain[c]);
      EXPECT_EQ(it.reference_plain, plain[it.reference]);
      EXPECT_EQ(configurations[it.reference].segment_switch,
                configurations[c].segment_switch);
      EXPECT_LE(std::abs(it.share), 1);
      const std::set<int> required(plans_[t].required.begin(),
                                   plans_[t].required.end());
      EXPECT_TRUE(required.contains(it.reference));
      EXPECT_TRUE(required.contains(it.reference_plain));
      EXPECT_FALSE(required.contains(static_cast<int>(c)));
    }
  }
  EXPECT_GT(estimated, 0);
}

// A configuration neither required nor a proxy's has exactly one estimate.
TEST_P(EstimationPlanTest, EveryConfigurationHasOneSource) {
  for (size_t t = 0; t < plans_.size(); ++t) {
    const EstimationPlan& it = plans_[t];
    if (it.proxy.has_value()) continue;
    const std::vector<int> plain =
        space::FindPlainConfigurations(space_.types[t]);
    const std::set<int> required(it.required.begin(), it.required.end());
    for (size_t c = 0; c < plain.size(); ++c) {
      const bool is_plain = plain[c] == static_cast<int>(c);
      const bool by_halves = halves_->IsCut(SegmentTypeId(t)) && is_plain;
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

// Times that add up over the factors are estimated exactly, from few programs.
TEST_P(EstimationPlanTest, SumsOfFactorsAreExact) {
  std::mt19937 random(5);
  for (SegmentTypeId t; t < plans_.size(); ++t) {
    const EstimationPlan& it = plans_[t];
    if (it.sums.empty() || space::HasBlocks(analysis_, analysis_.types[t])) {
      continue;
    }
    const auto factors = ListEndFactors(
        analysis_, space_, t, space::FindPlainConfigurations(space_.types[t]));
    std::map<std::pair<size_t, int>, int> times;
    size_t values = 1;
    const auto time_of = [&](int c) {
      int sum = 0;
      for (size_t i = 0; i < factors[c].size(); ++i) {
        const auto [time, added] = times.try_emplace({i, factors[c][i]}, 0);
        if (added) time->second = static_cast<int>(random() % 1000);
        sum += time->second;
      }
      return sum;
    };
    std::set<int> sources;
    for (size_t c = 0; c < it.sums.size(); ++c) {
      if (it.sums[c].empty()) continue;
      int estimated = 0;
      for (const auto& [other, weight] : it.sums[c]) {
        estimated += weight * time_of(other);
        sources.insert(other);
      }
      EXPECT_EQ(estimated, time_of(static_cast<int>(c))) << t << " " << c;
    }
    std::map<size_t, std::set<int>> by_factor;
    for (const auto& [factor, time] : times) {
      by_factor[factor.first].insert(factor.second);
    }
    for (const auto& [factor, its] : by_factor) values += its.size() - 1;
    EXPECT_LE(sources.size(), values) << t;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, EstimationPlanTest,
                         testing::Values("llama_2l", "t5_tiny", "albert_tiny",
                                         "scan_tiny", "moe_tiny"));

}  // namespace
}  // namespace meshwright::estimation
