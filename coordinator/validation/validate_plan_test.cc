#include "coordinator/validation/validate_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "coordinator/estimation/time_base.h"
#include "coordinator/jobs/testing/fake_measurer.h"
#include "coordinator/planning/plan_pipeline.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "coordinator/validation/report.h"
#include "profiledb/store/summary.h"
#include "profiledb/store/testing/fake_profile_store.h"

namespace meshwright::validation {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Whose outputs differ from the reference's, in the first runs or in all.
class DifferingMeasurer : public jobs::FakeMeasurer {
 public:
  absl::Status Measure(const v1::RunnerRequest& request,
                       const OnResult& on_result,
                       const OnStarted& on_started) override {
    if (request.has_reference()) ++comparisons;
    if (comparisons > 1 && !second.ok()) return second;
    const bool differs = request.has_reference() && comparisons <= differ_until;
    return FakeMeasurer::Measure(
        request,
        [&](v1::ProfileResult result) {
          if (differs) result.set_max_relative_difference(0.5);
          return on_result(result);
        },
        on_started);
  }

  int comparisons = 0;
  int differ_until = 0;
  absl::Status second;  // of the run on other inputs
};

class ValidatePlanTest : public testing::Test {
 protected:
  ValidatePlanTest() {
    measurer_.machine = 3;
    v1::PlanRequest request;
    request.set_hlo_module(segmenter::ReadSample("gpt2_tiny"));
    for (int64_t size : {1, 2}) request.mutable_mesh()->add_shape(size);
    auto plan = planning::MakePlan(request, {&store_, &measurer_},
                                   [](const v1::PlanProgress&) {});
    EXPECT_TRUE(plan.ok()) << plan.status();
    request_.plan = *std::move(plan);
    request_.hlo_module = request.hlo_module();
    request_.device.set_platform("cpu");
  }

  absl::Status Validate() {
    return ValidatePlan(
        request_, &store_, &measurer_,
        {.progress =
             [&](const v1::PlanProgress& progress) {
               done_ = progress.done();
               total_ = progress.total();
             },
         .note = [&](const std::string& note) { notes_.push_back(note); },
         .report =
             [&](const v1::ValidationReport& report) {
               EXPECT_FALSE(report_.has_value());
               report_ = report;
             }});
  }

  store::FakeProfileStore store_;
  DifferingMeasurer measurer_;
  ValidationRequest request_;
  std::optional<v1::ValidationReport> report_;
  std::vector<std::string> notes_;
  int64_t done_ = 0;
  int64_t total_ = -1;
};

TEST_F(ValidatePlanTest, AReportAndTheRowsThatWereMeasuredAgain) {
  request_.random_plans = 1;
  const absl::Status status = Validate();
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_TRUE(report_.has_value());
  const v1::ValidatedPlan& chosen = report_->plans(0);
  EXPECT_EQ(chosen.name(), "chosen");
  EXPECT_EQ(chosen.predicted_seconds(),
            request_.plan.predicted().step_seconds());
  EXPECT_GT(chosen.measured_seconds(), 0);
  EXPECT_TRUE(chosen.has_error_as_planned());
  EXPECT_TRUE(chosen.has_error_now());
  EXPECT_EQ(report_->plans().rbegin()->name(), "random 1");
  EXPECT_TRUE(CheckReport(*report_).ok());
  EXPECT_EQ(done_, total_);
  EXPECT_THAT(notes_, IsEmpty());
  EXPECT_EQ(measurer_.comparisons, 1);
}

// The store finds out that the rows were a third too slow. The machine is as
// fast as before: neither error says anything of the store.
TEST_F(ValidatePlanTest, RowsThatChangedSinceAreNoDrift) {
  std::vector<std::string> keys;
  for (const auto& it : request_.plan.program_times()) keys.push_back(it.key());
  auto rows = store_.Lookup(keys);
  ASSERT_TRUE(rows.ok() && !rows->empty());
  for (auto& [key, row] : *rows) {
    store::ClearSummary(*row.mutable_measurement());
    estimation::ScaleTimes(0.75, *row.mutable_measurement());
    ASSERT_TRUE(store_.Record(row, {}).ok());
  }
  ASSERT_TRUE(Validate().ok());
  EXPECT_NEAR(report_->machine_drift(), 1, 1e-9);
  int planned = 0;
  for (const v1::ValidatedPlan& it : report_->plans()) {
    EXPECT_NEAR(it.drift(), 1, 1e-9) << it.name();
    if (!it.has_error_as_planned()) continue;
    EXPECT_NEAR(it.error_now(), it.error_as_planned(), 1e-9) << it.name();
    ++planned;
  }
  EXPECT_GE(planned, 3);
}

TEST_F(ValidatePlanTest, OnOtherDevicesNothingWasPlanned) {
  request_.plan.mutable_device_fingerprint()->set_processor("Slow CPU 1");
  request_.plan.clear_program_times();  // their keys name its devices
  ASSERT_TRUE(Validate().ok());
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("on other devices than these")));
  for (const v1::ValidatedPlan& it : report_->plans()) {
    EXPECT_FALSE(it.has_error_as_planned()) << it.name();
    EXPECT_TRUE(it.has_error_now()) << it.name();
  }
}

TEST_F(ValidatePlanTest, OutputsThatDifferAreComparedOnOtherInputs) {
  measurer_.differ_until = 1;
  ASSERT_TRUE(Validate().ok());
  EXPECT_EQ(measurer_.comparisons, 2);
  EXPECT_EQ(report_->plans(0).difference_on_first_inputs(), 0.5);
  EXPECT_TRUE(CheckReport(*report_).ok());
}

TEST_F(ValidatePlanTest, AWrongPlanDiffersOnAllInputs) {
  measurer_.differ_until = 2;
  ASSERT_TRUE(Validate().ok());
  EXPECT_EQ(CheckReport(*report_).code(), absl::StatusCode::kInternal);
}

TEST_F(ValidatePlanTest, WithoutTheOtherInputsTheReportComesWithANote) {
  measurer_.differ_until = 1;
  measurer_.second = absl::UnavailableError("no worker is attached");
  ASSERT_TRUE(Validate().ok());
  ASSERT_TRUE(report_.has_value());
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("no worker is attached")));
  EXPECT_FALSE(CheckReport(*report_).ok());
}

TEST_F(ValidatePlanTest, AStopInTheSecondComparisonEndsIt) {
  measurer_.differ_until = 1;
  measurer_.second = absl::CancelledError("stopped");
  EXPECT_EQ(Validate().code(), absl::StatusCode::kCancelled);
  EXPECT_FALSE(report_.has_value());
}

}  // namespace
}  // namespace meshwright::validation
