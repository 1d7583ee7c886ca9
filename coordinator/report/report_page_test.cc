#include "coordinator/report/report_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(ReportPage, EqualPlansGiveEqualPages) {
  EXPECT_EQ(Render(MakeMeshPlan()), Render(MakeMeshPlan()));
}

}  // namespace
}  // namespace meshwright::report
