#include "cli/text/validation_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  result.mutable_measurement()->set_minimum_ns(2'000'000);
  result.mutable_measurement()->set_median_ns(2'500'000);
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
  EXPECT_THAT(text,
              HasSubstr("dp: outputs differ from the step on one device"));
}

TEST(ValidationTextTest, SaysNothingOfPlansThatAreEqual) {
  const Results results = {{"a", Measured(1e-7)}, {"b", Measured(0)}};
  const auto report = MakeReport(TwoPlans(), results, {});
  EXPECT_NEAR(report.plans(0).error(), -0.05, 1e-12);
  EXPECT_DOUBLE_EQ(report.plans(0).measured_median_seconds(), 2.5e-3);
  EXPECT_FALSE(report.plans(1).has_error());
  EXPECT_THAT(DescribeValidation(report), Not(HasSubstr("differ ")));
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
