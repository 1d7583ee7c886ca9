#include "cli/text/difference_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/explain/difference.h"

namespace meshwright::cli {
namespace {

using explain::ComparePlans;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

v1::Plan SomePlan(double second_layer_seconds, const std::string& describe) {
  v1::Plan plan;
  plan.set_feasible(true);
  plan.mutable_model()->set_name("llama");
  plan.mutable_model()->set_fingerprint("f");
  plan.add_mesh(1);
  plan.add_mesh(2);
  double step = 0;
  for (int s = 0; s < 4; ++s) {
    v1::PlanSegment& segment = *plan.add_segments();
    segment.set_type(s == 0 ? 0 : 1);
    segment.set_describe(s < 2 ? "rows" : describe);
    segment.set_seconds(s < 2 ? 0.01 : second_layer_seconds);
    segment.set_communication_seconds(segment.seconds() / 4);
    segment.set_resharding_seconds(s == 2 && describe != "rows" ? 0.001 : 0);
    segment.set_memory_bytes(describe == "rows" ? 1024 : 512);
    step += segment.seconds() + segment.resharding_seconds();
  }
  plan.mutable_predicted()->set_step_seconds(step);
  plan.mutable_predicted()->add_interval_seconds(step - 0.0003);
  plan.mutable_predicted()->add_interval_seconds(step + 0.0009);
  for (const char* name : {"wq", "wk", "wv", "wo"}) {
    v1::PlanArgument& argument = *plan.add_arguments();
    argument.set_index(plan.arguments_size() - 1);
    argument.set_name(name);
    argument.set_role("parameter");
    argument.set_sharding(describe == "rows" ? "[-,-]" : "[-,1]");
  }
  return plan;
}

TEST(PlanDifferenceTest, ChangesAreGroupedAndAddUp) {
  const v1::Plan a = SomePlan(0.01, "rows");
  const v1::Plan b = SomePlan(0.02, "columns");
  const v1::PlanDifference difference = ComparePlans(a, b);
  EXPECT_EQ(difference.reason(), "");
  ASSERT_EQ(difference.segments_size(), 1);
  const v1::SegmentChange& change = difference.segments(0);
  EXPECT_THAT(change.segments(), ElementsAre(2, 3));
  EXPECT_NEAR(change.seconds(), 0.02, 1e-12);
  EXPECT_NEAR(change.communication_seconds(), 0.005, 1e-12);
  EXPECT_NEAR(change.resharding_seconds(), 0.001, 1e-12);
  EXPECT_EQ(change.memory_bytes(), -1024);
  EXPECT_NEAR(change.seconds() + change.resharding_seconds(),
              b.predicted().step_seconds() - a.predicted().step_seconds(),
              1e-12);
  EXPECT_FALSE(difference.within_noise());
  EXPECT_NEAR(difference.noise_seconds(), 0.0003 * std::sqrt(2), 1e-9);
  const std::string text = DescribeDifference(a, b);
  EXPECT_THAT(text, HasSubstr("rows  ->  columns"));
  EXPECT_THAT(text, HasSubstr("+21.0 ms (compute +15.0 ms"));
  EXPECT_THAT(text,
              HasSubstr("4 parameter [-,-]  ->  [-,1]  (wq, wk, wv, ..."));
}

TEST(PlanDifferenceTest, BoundariesThatChangeAreListedToo) {
  const v1::Plan a = SomePlan(0.01, "rows");
  v1::Plan b = a;
  b.mutable_segments(3)->set_resharding_seconds(0.002);
  const v1::PlanDifference difference = ComparePlans(a, b);
  ASSERT_EQ(difference.segments_size(), 1);
  EXPECT_THAT(difference.segments(0).segments(), ElementsAre(3));
  EXPECT_THAT(DescribeDifference(a, b),
              HasSubstr("same configuration, other boundaries"));
}

TEST(PlanDifferenceTest, EqualPlansSayNothing) {
  const v1::Plan plan = SomePlan(0.01, "rows");
  const v1::PlanDifference difference = ComparePlans(plan, plan);
  EXPECT_TRUE(difference.within_noise());
  EXPECT_THAT(DescribeDifference(plan, plan),
              HasSubstr("shard everything in the same way"));
}

TEST(PlanDifferenceTest, ABaselineHasNoFigures) {
  v1::Plan baseline = SomePlan(0.01, "rows");
  baseline.clear_predicted();
  EXPECT_THAT(DescribeDifference(baseline, SomePlan(0.02, "columns")),
              HasSubstr("step               -  61.0 ms           -\n"));
}

TEST(PlanDifferenceTest, PlansOfTwoExportsAreOfOneModel) {
  v1::Plan a = SomePlan(0.01, "rows");
  v1::Plan b = SomePlan(0.02, "columns");
  a.mutable_model()->set_module_sha256("first");
  b.mutable_model()->set_module_sha256("second");
  EXPECT_TRUE(ComparePlans(a, b).comparable());
  // A plan of before there was `module_sha256`.
  a.mutable_model()->clear_module_sha256();
  a.mutable_model()->set_fingerprint("second");
  EXPECT_TRUE(ComparePlans(a, b).comparable());
}

TEST(PlanDifferenceTest, WhatCannotBeComparedIsSaidInOneSentence) {
  const v1::Plan a = SomePlan(0.01, "rows");
  v1::Plan b = SomePlan(0.02, "columns");
  b.set_mesh(1, 4);
  EXPECT_EQ(ComparePlans(a, b).reason(),
            "they are plans for different meshes, 1x2 and 1x4");
  b.mutable_model()->set_fingerprint("g");
  b.mutable_model()->set_name("bert");
  const v1::PlanDifference difference = ComparePlans(a, b);
  EXPECT_EQ(difference.reason(),
            "they are plans of different models, llama and bert");
  const std::string text = DescribeDifference(a, b);
  EXPECT_THAT(text, HasSubstr("only the figures are compared: they are"));
  EXPECT_THAT(text, HasSubstr("+21.0 ms"));
  EXPECT_THAT(text, Not(HasSubstr("segments")));
  const auto json = DifferenceToJson(a, b);
  EXPECT_EQ(json["comparable"], false);
  EXPECT_EQ(json["segments"].size(), 0u);
  EXPECT_NEAR(json["step_seconds"], 0.021, 1e-12);
}

TEST(PlanDifferenceTest, AnInfeasiblePlanHasNoFigures) {
  const v1::Plan a = SomePlan(0.01, "rows");
  v1::Plan b = a;
  b.set_feasible(false);
  const v1::PlanDifference difference = ComparePlans(a, b);
  EXPECT_EQ(difference.reason(), "the second is infeasible");
  EXPECT_TRUE(DifferenceToJson(a, b)["step_seconds"].is_null());
  EXPECT_TRUE(DifferenceToJson(a, b)["b"]["predicted"].is_null());
}

TEST(PlanDifferenceTest, APlanOfAnOlderVersionHasNoCosts) {
  v1::Plan a = SomePlan(0.01, "rows");
  v1::Plan b = SomePlan(0.02, "columns");
  for (v1::PlanSegment& it : *a.mutable_segments()) {
    it.set_seconds(0);
  }
  const v1::PlanDifference difference = ComparePlans(a, b);
  EXPECT_FALSE(difference.segments(0).has_seconds());
  EXPECT_THAT(DescribeDifference(a, b), HasSubstr("no costs by segment"));
  EXPECT_FALSE(DifferenceToJson(a, b)["segments"][0].contains("seconds"));
}

}  // namespace
}  // namespace meshwright::cli
