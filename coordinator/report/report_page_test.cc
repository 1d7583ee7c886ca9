#include "coordinator/report/report_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "coordinator/report/report_json.h"
#include "coordinator/report/testing/plans.h"

namespace meshwright::report {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string Render(const v1::Plan& plan) {
  const auto data = MakeReportData({.plan = plan, .basis = MakeBasis(plan)});
  EXPECT_TRUE(data.ok()) << data.status();
  return RenderReport(*data);
}

TEST(ReportPage, IsOneFileThatLoadsNothing) {
  const std::string page = Render(MakeMeshPlan());
  for (const char* name : {"title", "style", "charts", "script", "data"}) {
    EXPECT_THAT(page, Not(HasSubstr(absl::StrCat("{{", name, "}}"))));
  }
  EXPECT_THAT(page, Not(HasSubstr(" src=\"")));
  EXPECT_THAT(page, Not(HasSubstr("@import")));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, HasSubstr("<title>toy "));
}

TEST(ReportPage, NamesOfAModelAreTextAndNoMarkup) {
  v1::Plan plan = MakeMeshPlan();
  plan.mutable_model()->set_name("</title></script><script>alert(1)//{{data}}");
  plan.add_notes("</script><img src=x onerror=alert(1)>");
  plan.add_notes("not UTF-8: \xff\xfe");
  const std::string page = Render(plan);
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, Not(HasSubstr("<img src=x")));
  EXPECT_THAT(page, HasSubstr("&lt;/title&gt;"));
}

TEST(ReportPage, DataIsJsonWithTheFiguresOfThePlan) {
  const v1::Plan plan = MakeMeshPlan();
  const auto data = MakeReportData({.plan = plan, .basis = MakeBasis(plan)});
  ASSERT_TRUE(data.ok()) << data.status();
  const auto json = nlohmann::json::parse(FormatReportJson(*data));
  EXPECT_EQ(json["model"]["name"], "toy");
  EXPECT_DOUBLE_EQ(json["predicted"]["communication_seconds"], 0.012);
  EXPECT_EQ(json["segments"][0]["groups"].size(), 3u);
  EXPECT_EQ(json["basis"]["programs"][0]["quality"], "good");
  EXPECT_EQ(json["basis"]["front"].size(), 2u);
  EXPECT_TRUE(json["choices"].is_null());
  EXPECT_TRUE(json["validation"].is_null());
}

nlohmann::json DescribeValidated(ReportInputs inputs) {
  const auto data = MakeReportData(std::move(inputs));
  EXPECT_TRUE(data.ok()) << data.status();
  return nlohmann::json::parse(FormatReportJson(*data))["validation"];
}

// JSON has no infinity: the difference itself would be null, as if nobody had
// compared.
TEST(ReportPage, SaysThatOutputsDiffer) {
  ReportInputs inputs{.plan = MakeMeshPlan()};
  v1::ValidationReport& validation = inputs.validation.emplace();
  validation.set_chosen("chosen");
  validation.set_tolerance(1e-3);
  const auto add = [&](const std::string& name, double difference) {
    v1::ValidatedPlan& it = *validation.add_plans();
    it.set_name(name);
    it.set_max_relative_difference(difference);
  };
  add("chosen", std::numeric_limits<double>::infinity());
  add("dp", 1e-2);
  add("tp", 1e-4);
  validation.add_plans()->set_failure("CRASHED: signal 11");
  const auto json = DescribeValidated(std::move(inputs));
  EXPECT_EQ(json["plans"][0]["differs"], true);
  EXPECT_EQ(json["plans"][1]["differs"], true);
  EXPECT_EQ(json["plans"][2]["differs"], false);
  EXPECT_TRUE(json["plans"][3]["differs"].is_null());
}

TEST(ReportPage, SaysWhatAValidationOfStagesFound) {
  const v1::Plan plan = MakeStagedPlan();
  v1::StagedValidationReport validation = MakeStagedValidation(plan, 1);
  validation.set_tolerance(1e-3);
  EXPECT_EQ(DescribeValidated(
                {.plan = plan, .staged_validation = validation})["differs"],
            false);
  validation.set_max_relative_difference(0.1);
  EXPECT_EQ(DescribeValidated(
                {.plan = plan, .staged_validation = validation})["differs"],
            true);
  validation.set_failure("stage 1 forward did not run: CRASHED");
  const auto json =
      DescribeValidated({.plan = plan, .staged_validation = validation});
  EXPECT_EQ(json["failure"], "stage 1 forward did not run: CRASHED");
  EXPECT_TRUE(json["differs"].is_null());
}

// As deep as models are, with layers that do not fold.
TEST(ReportPage, OfManyLayersThatDifferIsSmall) {
  v1::Plan plan = MakeMeshPlan();
  const v1::PlanSegment layer = plan.segments(1);
  for (int s = 0; s < 96; ++s) {
    v1::PlanSegment& segment = *plan.add_segments();
    segment = layer;
    segment.set_describe(absl::StrCat("columns, rows, heads; layer ", s));
  }
  EXPECT_LE(Render(plan).size(), size_t{2} << 20);
}

TEST(ReportPage, EqualPlansGiveEqualPages) {
  EXPECT_EQ(Render(MakeMeshPlan()), Render(MakeMeshPlan()));
}

}  // namespace
}  // namespace meshwright::report
