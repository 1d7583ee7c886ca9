#include "coordinator/report/report_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "coordinator/report/testing/plans.h"

namespace meshwright::report {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

ReportData Make(ReportInputs inputs) {
  auto data = MakeReportData(std::move(inputs));
  EXPECT_TRUE(data.ok()) << data.status();
  return *std::move(data);
}

TEST(ReportData, CollectivesAreCountedAsOftenAsTheirProgramsRun) {
  const v1::Plan plan = MakeMeshPlan();
  const ReportData data = Make({.plan = plan, .basis = MakeBasis(plan)});
  ASSERT_THAT(data.collectives, SizeIs(1));
  EXPECT_EQ(data.collectives[0].kind, "all-reduce");
  EXPECT_EQ(data.collectives[0].axis, "axis 1");
  EXPECT_DOUBLE_EQ(data.collectives[0].count, 3 * 2);
  EXPECT_DOUBLE_EQ(data.collectives[0].bytes, 3 * 2 * 1024);
}

TEST(ReportData, AxesAreNamedWhereGroupsLieAlongOneOnly) {
  v1::Plan plan;
  for (const int64_t size : {2, 4}) plan.add_mesh(size);
  EXPECT_EQ(NameAxis(plan, 2), "axis 0");
  EXPECT_EQ(NameAxis(plan, 4), "axis 1");
  EXPECT_EQ(NameAxis(plan, 8), "all axes");
  EXPECT_EQ(NameAxis(plan, 3), "groups of 3 devices");
  plan.set_mesh(0, 4);
  EXPECT_EQ(NameAxis(plan, 4), "an axis of 4 devices");
}

// A model of 96 layers has thousands of them.
TEST(ReportData, ArgumentsThatDifferInNumbersAloneAreOneGroup) {
  v1::Plan plan = MakeMeshPlan();
  for (int layer = 0; layer < 96; ++layer) {
    v1::PlanArgument& it = *plan.add_arguments();
    it.set_name(absl::StrCat("layer_", layer, ".kernel"));
    it.set_role("parameter");
    it.set_sharding(layer == 7 ? "[1,-]" : "[-,1]");
  }
  plan.add_arguments()->set_name("layer_7.bias");
  const ReportData data = Make({.plan = plan});
  ASSERT_THAT(data.arguments, SizeIs(3));
  EXPECT_EQ(data.arguments[0].name, "layer_*.kernel");
  EXPECT_EQ(data.arguments[0].count, 95);
  EXPECT_EQ(data.arguments[1].count, 1);
  EXPECT_EQ(data.arguments[1].name, "layer_7.kernel");
  EXPECT_EQ(data.arguments[2].name, "layer_7.bias");
}

TEST(ReportData, AStagedPlanHasItsStagesAndTheirWaits) {
  const v1::Plan plan = MakeStagedPlan();
  const ReportData data = Make(
      {.plan = plan, .staged_validation = MakeStagedValidation(plan, 1.5)});
  ASSERT_THAT(data.segments, SizeIs(2));
  EXPECT_EQ(data.segments[1].stage, 2);
  EXPECT_EQ(data.segments[1].groups[0].runs[0].first, 1);
  ASSERT_TRUE(data.waits.has_value());
  EXPECT_EQ(data.waits->stages_size(), 2);
  EXPECT_THAT(data.timelines, SizeIs(2));
}

TEST(ReportData, AValidationOfAnotherPlanIsRefused) {
  ReportInputs inputs{.plan = MakeMeshPlan()};
  EXPECT_TRUE(CheckValidation(inputs).ok());
  v1::ValidationReport& validation = inputs.validation.emplace();
  EXPECT_THAT(CheckValidation(inputs).message(), HasSubstr("no result of"));
  validation.set_chosen("chosen");
  v1::ValidatedPlan& own = *validation.add_plans();
  own.set_name("chosen");
  own.set_predicted_seconds(2 * inputs.plan.predicted().step_seconds());
  EXPECT_THAT(CheckValidation(inputs).message(), HasSubstr("another plan"));
  own.set_predicted_seconds(inputs.plan.predicted().step_seconds());
  EXPECT_TRUE(CheckValidation(inputs).ok());
}

TEST(ReportData, AnInfeasiblePlanHasNoTimeline) {
  v1::Plan plan;
  plan.set_limit_bytes(100);
  const ReportData data = Make({.plan = plan});
  EXPECT_THAT(data.timelines, SizeIs(0));
}

}  // namespace
}  // namespace meshwright::report
