#include "cli/text/plan_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/text/json.h"

namespace meshwright::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

v1::Plan FeasiblePlan() {
  v1::Plan plan;
  plan.set_schema_version(1);
  plan.set_feasible(true);
  plan.mutable_predicted()->set_step_seconds(0.040);
  plan.set_lower_bound_seconds(0.038);
  plan.set_gap(0.05);
  v1::PlanPrograms& programs = *plan.mutable_programs();
  programs.set_total(20);
  programs.set_distinct(18);
  programs.set_profiled(9);
  programs.set_cached(4);
  programs.set_excluded(3);
  programs.set_not_reached(1);
  programs.set_failed(1);
  return plan;
}

TEST(PlanTextTest, ProgramsAreCountedByWhatBecameOfThem) {
  EXPECT_THAT(
      DescribePlan(FeasiblePlan()),
      HasSubstr("9 profiled, 4 cached, 3 excluded, 1 not reached, 1 failed "
                "of 18 distinct, in "));
}

TEST(PlanTextTest, MeasurementsOfNoisyRowsAreCounted) {
  v1::Plan plan = FeasiblePlan();
  plan.mutable_programs()->set_remeasured(2);
  EXPECT_THAT(DescribePlan(plan),
              HasSubstr("of 18 distinct, 2 measured again, in "));
}

TEST(PlanTextTest, ANoteIsOneLineAndNoOrderToTheTerminal) {
  v1::Plan plan = FeasiblePlan();
  plan.add_notes("block: CRASHED, no\x1b[2J\nmore");
  EXPECT_THAT(DescribePlan(plan),
              HasSubstr("note: block: CRASHED, no?[2J more\n"));
}

TEST(PlanTextTest, ExcludedConfigurationsNameTheirRivals) {
  v1::Plan plan = FeasiblePlan();
  for (const double estimate : {0.030, 0.020}) {
    v1::PlanExcluded& it = *plan.add_excluded();
    it.set_type(1);
    it.set_describe(estimate < 0.025 ? "rows" : "columns");
    it.set_estimate_seconds(estimate);
    it.set_rival_seconds(0.018);
    it.set_reason("even 5 % less is no better than \"both\"");
  }
  EXPECT_THAT(DescribePlan(plan),
              HasSubstr("2 of type 1; the closest, \"rows\": even 5 % less is "
                        "no better than \"both\""));
}

TEST(PlanTextTest, TheGapSaysWhatItIsOver) {
  v1::Plan plan = FeasiblePlan();
  EXPECT_THAT(
      DescribePlan(plan),
      AllOf(HasSubstr("38.0 ms, gap 5.00 %, among measured configurations"),
            Not(HasSubstr("configurations not reached"))));
  for (const double margin : {0.1, 0.3}) {
    v1::PlanNotReached& it = *plan.add_not_reached();
    it.set_type(2);
    it.set_describe(margin < 0.2 ? "rows" : "columns");
    it.set_estimate_seconds(0.020);
    it.set_margin(margin);
  }
  const std::string text = DescribePlan(plan);
  EXPECT_THAT(text, HasSubstr("; configurations not reached (2) count at their "
                              "estimates less their margins"));
  EXPECT_THAT(text,
              HasSubstr("2 of type 2; the most promising, \"columns\", is "
                        "estimated at 20.0 ms and may take 30.0 % less"));
}

TEST(PlanTextTest, NoisyRowsAreSaidWithTheWayOut) {
  v1::Plan plan = FeasiblePlan();
  EXPECT_THAT(DescribePlan(plan), Not(HasSubstr("quality")));
  plan.set_quality(v1::NOISY);
  EXPECT_THAT(DescribePlan(plan),
              AllOf(HasSubstr("noisy: "),
                    HasSubstr("`meshwright profiles remeasure PLAN`")));
  plan.add_noise(v1::BUSY_MACHINE);
  plan.add_noise(v1::UNSTEADY);
  EXPECT_THAT(DescribePlan(plan),
              HasSubstr("(others used the machine, samples far apart); "
                        "`meshwright"));
  plan.clear_noise();
  plan.add_noise(v1::SLOW_PERIOD);
  EXPECT_THAT(DescribePlan(plan), HasSubstr("(the machine was slower than"));
  plan.set_quality(v1::GOOD);
  EXPECT_THAT(DescribePlan(plan), Not(HasSubstr("remeasure")));
}

TEST(PlanTextTest, TheJsonIsReadBack) {
  v1::Plan plan = FeasiblePlan();
  EXPECT_TRUE(nlohmann::json::parse(PlanToJsonText(plan))["quality"].is_null());
  plan.set_quality(v1::SUSPECT);
  plan.add_noise(v1::BUSY_MACHINE);
  const std::string json = PlanToJsonText(plan);
  EXPECT_EQ(nlohmann::json::parse(json)["quality"], "suspect");
  v1::Plan read;
  ASSERT_TRUE(FromJson(json, "a plan", &read).ok());
  EXPECT_EQ(read.quality(), v1::SUSPECT);
  EXPECT_EQ(nlohmann::json::parse(json)["noise"][0], "busy_machine");
  ASSERT_EQ(read.noise_size(), 1);
  EXPECT_EQ(read.noise(0), v1::BUSY_MACHINE);
  EXPECT_EQ(read.programs().not_reached(), 1);
}

TEST(PlanTextTest, ALauncherReadsOneLine) {
  v1::Plan plan = FeasiblePlan();
  EXPECT_EQ(PlanToJsonLine(plan, "plan-3", ""),
            "{\"plan\":\"plan-3\",\"feasible\":true,\"fallback\":\"\","
            "\"step_seconds\":0.04,\"file\":\"\"}\n");
  plan.set_feasible(false);
  EXPECT_EQ(PlanToJsonLine(plan, "", "a.json"),
            "{\"plan\":\"\",\"feasible\":false,\"fallback\":\"\","
            "\"step_seconds\":null,\"file\":\"a.json\"}\n");
}

// Written before configurations had verdicts of two kinds.
TEST(PlanTextTest, OldPlansAreRead) {
  v1::Plan read;
  ASSERT_TRUE(FromJson(R"({"schema_version": 1, "feasible": true,
                           "programs": {"distinct": 9, "pruned": 4},
                           "pruned": [{"type": 1, "reason": "slow"}],
                           "quality": "GOOD"})",
                       "a plan", &read)
                  .ok());
  EXPECT_EQ(read.programs().distinct(), 9);
  EXPECT_EQ(read.quality(), v1::GOOD);
  EXPECT_THAT(DescribePlan(read), HasSubstr("9 distinct"));
}

}  // namespace
}  // namespace meshwright::cli
