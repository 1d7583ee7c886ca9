#include "cli/text/plan_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace meshwright::cli {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<NextStep> kNext = {{"run it", "meshwright validate M P"},
                                     {"see why", "meshwright explain P"}};

v1::Plan MeasuredPlan(double low, double high) {
  v1::Plan plan;
  plan.set_feasible(true);
  plan.set_device("cpu");
  plan.mutable_model()->set_name("toy");
  plan.add_mesh(1);
  plan.add_mesh(2);
  v1::PlanPrediction& predicted = *plan.mutable_predicted();
  predicted.set_step_seconds(0.038);
  predicted.set_compute_seconds(0.036);
  predicted.set_communication_seconds(0.002);
  predicted.set_resharding_seconds(0.0005);
  predicted.set_peak_bytes(2 << 20);
  predicted.add_interval_seconds(low);
  predicted.add_interval_seconds(high);
  plan.set_gap(0.0025);
  plan.set_quality(v1::GOOD);
  plan.mutable_programs()->set_profiled(9);
  plan.mutable_programs()->set_cached(4);
  return plan;
}

TEST(PlanSummaryTest, AScreenSaysStepMemoryCertaintyAndWhatIsNext) {
  v1::Plan plan = MeasuredPlan(0.037, 0.039);
  plan.set_limit_bytes(4 << 20);
  for (int i = 0; i < 3; ++i) {
    plan.add_segments()->set_describe(i == 0 ? "rows" : "columns");
  }
  plan.mutable_segments(1)->set_config(1);
  plan.mutable_segments(2)->set_config(1);
  EXPECT_EQ(SummarizePlan(plan, kNext, ""),
            R"(toy on mesh 1x2 (cpu)
  step       38.0 ms (compute 36.0 ms, communication 1.5 ms, resharding
             500.0 us)
  memory     2.0 MiB per device of 4.0 MiB
  certainty  good: the step takes 37.0 ms to 39.0 ms if it is measured again
  optimum    no plan is more than 0.25 % faster
  programs   9 measured, 4 known before, in 0.0 us
segments
  0    type 0  rows
  1-2  type 0  columns
next
  run it   meshwright validate M P
  see why  meshwright explain P
)");
}

TEST(PlanSummaryTest, AnIntervalThatSaysNothingIsSaidWithTheWayOut) {
  v1::Plan plan = MeasuredPlan(0.011, 0.072);
  plan.set_quality(v1::NOISY);
  plan.add_noise(v1::BUSY_MACHINE);
  EXPECT_THAT(SummarizePlan(plan, {}, "meshwright profiles remeasure P"),
              AllOf(HasSubstr("certainty  the machine was busy: measure again "
                              "with `meshwright profiles"),
                    Not(HasSubstr("72.0 ms"))));
  EXPECT_THAT(SummarizePlan(plan, {}, ""),
              HasSubstr("the machine was busy: plan again on a quiet machine"));
  plan.clear_noise();
  EXPECT_THAT(SummarizePlan(plan, {}, ""),
              HasSubstr("the measurements vary too much: plan again"));
}

TEST(PlanSummaryTest, CertaintyHasDegrees) {
  v1::Plan plan = MeasuredPlan(0.037, 0.039);
  plan.set_quality(v1::NOISY);
  plan.add_noise(v1::THROTTLED);
  EXPECT_THAT(SummarizePlan(plan, {}, ""),
              AllOf(HasSubstr("fair: the step takes 37.0 ms to 39.0 ms"),
                    HasSubstr("heat or power held the clocks down")));
  plan.set_quality(v1::SUSPECT);
  EXPECT_THAT(SummarizePlan(plan, {}, ""),
              AllOf(HasSubstr("poor: "), Not(HasSubstr("37.0 ms"))));
}

TEST(PlanSummaryTest, APlanWithoutMeasurementsClaimsNone) {
  v1::Plan plan = MeasuredPlan(0.037, 0.039);
  plan.set_device("symbolic");
  plan.mutable_predicted()->clear_interval_seconds();
  EXPECT_THAT(SummarizePlan(plan, {}, ""),
              AllOf(HasSubstr("certainty  none"), Not(HasSubstr("optimum")),
                    Not(HasSubstr("programs"))));
  plan.clear_predicted();
  EXPECT_EQ(SummarizePlan(plan, {}, ""), "toy on mesh 1x2 (symbolic)\n");
}

TEST(PlanSummaryTest, AnInfeasiblePlanNamesBothLimits) {
  v1::Plan plan = MeasuredPlan(0.037, 0.039);
  plan.set_feasible(false);
  plan.set_least_memory_bytes(4 << 20);
  plan.set_limit_bytes(1 << 20);
  EXPECT_THAT(
      SummarizePlan(plan, {}, ""),
      AllOf(HasSubstr("infeasible: the smallest plan found needs 4.0 MiB"),
            Not(HasSubstr("certainty"))));
}

// Whatever the plan holds.
TEST(PlanSummaryTest, AScreenFitsATerminal) {
  v1::Plan plan = MeasuredPlan(0.011, 0.072);
  plan.set_quality(v1::NOISY);
  plan.mutable_model()->set_name(std::string(300, 'm'));
  plan.mutable_pipeline()->set_schedule("eager-1f1b-delay");
  plan.set_limit_bytes(int64_t{1} << 40);
  std::string words;
  for (int i = 0; i < 60; ++i) absl::StrAppend(&words, "columns, ");
  for (int stage = 0; stage < 8; ++stage) {
    v1::PlanStage& it = *plan.add_stages();
    for (int i = 0; i < 40; ++i) {
      it.add_segments()->set_config(i);
      it.mutable_segments(i)->set_describe(words);
    }
  }
  for (int i = 0; i < 12; ++i) plan.add_notes(words);
  const std::string text =
      SummarizePlan(plan, kNext, "meshwright profiles remeasure P");
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  EXPECT_LE(lines.size(), kSummaryLines) << text;
  for (const std::string& line : lines) {
    EXPECT_LE(line.size(), kSummaryColumns) << line;
  }
  EXPECT_THAT(text, HasSubstr("notes more"));
  EXPECT_THAT(text, HasSubstr("lines more"));
  EXPECT_THAT(text, EndsWith("meshwright explain P\n"));
}

}  // namespace
}  // namespace meshwright::cli
