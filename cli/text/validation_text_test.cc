#include "cli/text/validation_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "coordinator/validation/report.h"

namespace meshwright::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using validation::MakeReport;
using validation::Results;
using validation::Validation;

v1::ProfileResult Measured(double difference) {
  v1::ProfileResult result;
  result.set_outcome(v1::MEASURED);
  result.set_max_relative_difference(difference);
  result.mutable_measurement()->set_minimum_ns(1'500'000);
  result.mutable_measurement()->set_median_ns(2'000'000);
  return result;
}

Validation TwoPlans() {
  Validation validation;
  validation.tolerance = 1e-3;
  validation.plans = {{"chosen", "a", true, 1.9e-3, 100}, {"dp", "b"}};
  return validation;
}

TEST(ValidationTextTest, AKinkIsNoWrongPlan) {
  const Validation validation = TwoPlans();
  const Results first = {{"a", Measured(2e-3)}, {"b", Measured(1)}};
  const Results others = {{"a", Measured(4e-7)}, {"b", Measured(0.9)}};
  const auto report = MakeReport(validation, first, others);
  EXPECT_EQ(report.plans(0).max_relative_difference(), 4e-7);
  EXPECT_EQ(report.plans(0).difference_on_first_inputs(), 2e-3);
  EXPECT_EQ(report.plans(1).max_relative_difference(), 1.0);
  EXPECT_FALSE(report.plans(1).has_difference_on_first_inputs());
  const std::string text = DescribeValidation(report);
  EXPECT_THAT(text, HasSubstr("chosen: outputs differ by 2.0e-03 on the first"
                              " inputs"));
  EXPECT_THAT(text, HasSubstr("dp: outputs differ from those of one device"));
}

TEST(ValidationTextTest, SaysNothingOfPlansThatAreEqual) {
  const Results results = {{"a", Measured(1e-7)}, {"b", Measured(0)}};
  const auto report = MakeReport(TwoPlans(), results, {});
  EXPECT_TRUE(validation::CheckOutputs(report).ok());
  EXPECT_NEAR(report.plans(0).error_as_planned(), -0.05, 1e-12);
  EXPECT_DOUBLE_EQ(report.plans(0).measured_median_seconds(), 2e-3);
  EXPECT_FALSE(report.plans(1).has_error_as_planned());
  EXPECT_THAT(DescribeValidation(report), Not(HasSubstr("differ ")));
}

TEST(ValidationTextTest, OutputsOfAnyPlanThatDifferAreAFailure) {
  Results results = {{"a", Measured(1e-7)}, {"b", Measured(0.5)}};
  const absl::Status far =
      validation::CheckOutputs(MakeReport(TwoPlans(), results, {}, "tp"));
  EXPECT_EQ(far.message(),
            "the outputs of dp differ from those of tp by more than 1e-03");
  results["a"].set_max_relative_difference(std::nan(""));
  EXPECT_THAT(
      std::string(validation::CheckOutputs(MakeReport(TwoPlans(), results, {}))
                      .message()),
      HasSubstr("chosen, dp differ"));
}

// A program of the chosen plan takes a tenth longer than when it was profiled.
TEST(ValidationTextTest, BothErrorsAreDefinedOnTheScreen) {
  Validation validation = TwoPlans();
  validation.plans[1].predicted = true;
  validation.plans[1].predicted_seconds = 2e-3;
  validation.plans[1].planned = false;
  validation::Probe probe;
  probe.program.set_key("layer");
  probe.profiled_ns = 1'000'000;
  probe.runs_of = {1.9, 0};
  validation.probes = {probe};
  Results results = {{"a", Measured(0)}, {"b", Measured(0)}};
  results["layer"] = Measured(0);
  results["layer"].mutable_measurement()->set_median_ns(1'100'000);
  const auto report = MakeReport(validation, results, {});
  EXPECT_NEAR(report.plans(0).error_as_planned(), -0.05, 1e-12);
  EXPECT_NEAR(report.plans(0).error_now(), 1.1 * 0.95 - 1, 1e-12);
  // The plan's file lacks its times: nothing was planned with them.
  EXPECT_FALSE(report.plans(1).has_error_as_planned());
  EXPECT_NEAR(report.plans(1).error_now(), 0.1, 1e-12);
  const std::string text = DescribeValidation(report);
  EXPECT_THAT(text, HasSubstr("error as planned: predicted / measured - 1; "
                              "error now: the same after predicted is "
                              "multiplied by the drift"));
  EXPECT_THAT(text, HasSubstr("1.100 to 1.100 times"));
  EXPECT_THAT(text, HasSubstr("the plan's file has no times"));
}

TEST(ValidationTextTest, WithoutDriftThereIsNoErrorNow) {
  const Results results = {{"a", Measured(0)}, {"b", Measured(0)}};
  const auto report = MakeReport(TwoPlans(), results, {});
  EXPECT_FALSE(report.plans(0).has_error_now());
  EXPECT_THAT(DescribeValidation(report),
              HasSubstr("error now: not known, because no segment"));
}

TEST(ValidationTextTest, AnotherReferenceIsMarked) {
  const Results results = {{"a", Measured(1)}, {"b", Measured(0)}};
  const std::string text =
      DescribeValidation(MakeReport(TwoPlans(), results, {}, "dp"));
  EXPECT_THAT(text, HasSubstr("chosen: outputs differ from those of dp"));
  EXPECT_THAT(text, HasSubstr("compared with those of dp, because no single "
                              "device holds the whole step"));
}

TEST(ValidationTextTest, APlanThatDidNotRunSaysWhy) {
  v1::ProfileResult crashed;
  crashed.set_outcome(v1::CRASHED);
  crashed.set_reason("out of memory");
  const Results results = {{"a", crashed}, {"b", Measured(0)}};
  const auto report = MakeReport(TwoPlans(), results, {});
  EXPECT_EQ(report.plans(0).failure(), "CRASHED: out of memory");
  EXPECT_EQ(report.best_measured(), "dp");
  EXPECT_THAT(DescribeValidation(report), HasSubstr("CRASHED: out of memory"));
}

}  // namespace
}  // namespace meshwright::cli
