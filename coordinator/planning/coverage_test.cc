#include "coordinator/planning/coverage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>

#include "coordinator/jobs/testing/fake_measurer.h"
#include "coordinator/planning/plan_pipeline.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "profiledb/store/anchor_time.h"
#include "profiledb/store/testing/fake_profile_store.h"
#include "profiledb/store/testing/rows.h"

namespace meshwright::planning {
namespace {

using ::testing::HasSubstr;

class CoverageTest : public testing::Test {
 protected:
  CoverageTest() {
    request_.set_hlo_module(segmenter::ReadSample("llama_tiny"));
    request_.set_model_name("llama_tiny");
    for (const int64_t size : {1, 2}) request_.mutable_mesh()->add_shape(size);
    request_.set_full_space(true);
  }

  v1::CoverageReport Cover() {
    const auto report = CoverPlan(request_, {&store_, &measurer_});
    EXPECT_TRUE(report.ok()) << report.status();
    return report.value_or(v1::CoverageReport());
  }
  void Plan() {
    const auto plan = MakePlan(request_, {&store_, &measurer_},
                               [](const v1::PlanProgress&) {});
    EXPECT_TRUE(plan.ok()) << plan.status();
  }
  // One row of a compile of 3 s and 2 x 10 runs of 100 ms.
  void AddRow(const std::string& name, const std::string& machine) {
    v1::ProfileResult row = store::MakeMeasured(name);
    v1::Measurement& it = *row.mutable_measurement();
    it.set_compile_ns(3'000'000'000);
    it.set_minimum_ns(100'000'000);
    it.set_median_ns(100'000'000);
    it.set_compute_ns(100'000'000);
    it.clear_samples_ns();
    for (int i = 0; i < 10; ++i) it.add_samples_ns(100'000'000);
    ASSERT_TRUE(store_.Record(row, {.machine = machine}).ok());
  }

  v1::PlanRequest request_;
  store::FakeProfileStore store_;
  jobs::FakeMeasurer measurer_;
};

TEST_F(CoverageTest, OfAnEmptyStoreNothingIsKnownAndTheRestIsAGuess) {
  const v1::CoverageReport report = Cover();
  EXPECT_EQ(report.model(), "llama_tiny");
  EXPECT_GT(report.programs(), 10);
  EXPECT_EQ(report.unknown(), report.programs());
  EXPECT_TRUE(report.is_guess());
  EXPECT_EQ(report.basis(), "no rows at all");
  const auto programs = static_cast<double>(report.programs());
  EXPECT_DOUBLE_EQ(report.compile_seconds(), programs * kGuessedCompileSeconds);
  EXPECT_DOUBLE_EQ(report.measure_seconds(), programs * kGuessedMeasureSeconds);
  EXPECT_EQ(measurer_.programs, 0);
}

TEST_F(CoverageTest, OfAPlannedModelAllIsKnown) {
  measurer_.fails = {5};
  Plan();
  const v1::CoverageReport report = Cover();
  EXPECT_EQ(report.programs(), measurer_.programs);
  EXPECT_EQ(report.failed(), 1);
  EXPECT_EQ(report.measured(), report.programs() - 1);
  EXPECT_EQ(report.unknown(), 0);
  EXPECT_EQ(report.compile_seconds() + report.measure_seconds(), 0);
  EXPECT_FALSE(report.is_guess());
  request_.set_retry_failures(true);
  EXPECT_EQ(Cover().unknown(), 1);
}

TEST_F(CoverageTest, TheRestIsEstimatedFromTheNearestRows) {
  for (const char* const name : {"a", "b", "c"}) AddRow(name, "another");
  v1::CoverageReport report = Cover();
  EXPECT_EQ(report.basis(), "rows of other devices");
  EXPECT_TRUE(report.is_guess());
  EXPECT_EQ(report.basis_rows(), 3);
  const auto programs = static_cast<double>(report.programs());
  EXPECT_NEAR(report.compile_seconds(), 3 * programs, 1e-6);
  EXPECT_NEAR(report.measure_seconds(), 2 * programs, 1e-6);

  const std::string here =
      OpenStep(request_, &measurer_)->space.context.device_digest;
  ASSERT_NE(here, "another");
  for (const char* const name : {"d", "e", "f"}) AddRow(name, here);
  report = Cover();
  EXPECT_EQ(report.basis(), "other rows of these devices");
  EXPECT_FALSE(report.is_guess());

  measurer_.stops_after = 5;  // the rest of the plan is not made
  MakePlan(request_, {&store_, &measurer_}, [](const v1::PlanProgress&) {
  }).IgnoreError();
  report = Cover();
  EXPECT_EQ(report.measured(), 5);
  EXPECT_EQ(report.unknown(), report.programs() - 5);
  EXPECT_EQ(report.basis(), "the model's own rows");
  EXPECT_EQ(report.basis_rows(), 5);
  EXPECT_FALSE(report.is_guess());
}

TEST_F(CoverageTest, ShortProgramsWarmUpOnceASampleAndAreLaunchedEachTime) {
  for (const char* const name : {"a", "b", "c"}) {
    v1::ProfileResult row = store::MakeMeasured(name, 10'000);
    v1::Measurement& it = *row.mutable_measurement();
    it.clear_samples_ns();
    for (int i = 0; i < 100; ++i) it.add_samples_ns(10'000);
    it.set_executions_per_sample(20);
    it.set_launch_ns(40'000);
    ASSERT_TRUE(store_.Record(row, {.machine = "another"}).ok());
  }
  const v1::CoverageReport report = Cover();
  const auto programs = static_cast<double>(report.programs());
  EXPECT_NEAR(report.measure_seconds(), programs * 100 * 21 * 50e-6, 1e-6);
}

// A plan measures them again.
TEST_F(CoverageTest, RowsOfASlowPeriodCountAsNoisy) {
  const auto step = OpenStep(request_, &measurer_);
  ASSERT_TRUE(step.ok()) << step.status();
  const int64_t anchors[] = {1000, 1039, 1041};
  for (size_t i = 0; i < std::size(anchors); ++i) {
    v1::ProfileResult row = store::MakeMeasured("any");
    row.set_key(step->space.programs[i].key());
    v1::AnchorTime& anchor = *row.mutable_measurement()->add_anchors();
    anchor.set_name(store::kSpeedAnchor);
    anchor.set_minimum_ns(anchors[i]);
    ASSERT_TRUE(store_.Record(row, {}).ok());
  }
  const v1::CoverageReport report = Cover();
  EXPECT_EQ(report.measured(), 3);
  EXPECT_EQ(report.noisy(), 1);
}

TEST_F(CoverageTest, APlanWithStagesIsRefused) {
  request_.mutable_stages()->set_micro_batches(2);
  const absl::Status status =
      CoverPlan(request_, {&store_, &measurer_}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("without --stages"));
}

}  // namespace
}  // namespace meshwright::planning
