#include "cli/program/man_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/file.h"

namespace meshwright::cli {
namespace {

using testing::HasSubstr;

std::vector<ManPage> Pages() {
  std::string ignored;
  bool is_json = false;
  CLI::App app("Plans steps.", "meshwright");
  CLI::App* const plan = app.add_subcommand("plan", "plan a model's step");
  plan->add_option("model", ignored, "the model")->required();
  plan->add_option("--mesh", ignored, "like 1x2")->required();
  plan->add_option("-o,--output", ignored,
                   ".begins like a request \\ with a slash")
      ->default_str("plan.json");
  plan->add_option("--platform", ignored, "where")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  CLI::App* const plans = app.add_subcommand("plans", "of a coordinator's");
  plans->add_subcommand("list", "list them")
      ->add_flag("--json", is_json, "as JSON");
  return MakeManPages(DescribeProgram(app), "1.2.3");
}

TEST(ManPageTest, AProgramAndEachVerbHaveAPage) {
  const std::vector<ManPage> pages = Pages();
  ASSERT_EQ(pages.size(), 3u);
  EXPECT_EQ(pages[0].file, "meshwright.1");
  EXPECT_THAT(pages[0].text,
              HasSubstr("\\fBmeshwright\\-plan\\fR(1)\nplan a model's step"));
  EXPECT_EQ(pages[1].file, "meshwright-plan.1");
  EXPECT_THAT(pages[1].text,
              HasSubstr("\\fBmeshwright plan\\fR \\fB\\-\\-mesh\\fR "
                        "\\fITEXT\\fR \\fIMODEL\\fR [\\fIflags\\fR]\n"));
  EXPECT_THAT(pages[1].text,
              HasSubstr("\\fB\\-o\\fR, \\fB\\-\\-output\\fR \\fITEXT\\fR\n"
                        "\\&.begins like a request \\e with a slash (default: "
                        "plan.json)\n"));
  EXPECT_THAT(pages[1].text, HasSubstr("\\fIcpu|cuda\\fR"));
  EXPECT_THAT(pages[2].text, HasSubstr(".SS meshwright plans list\n"));
}

TEST(ManPageTest, GroffReadsThemWithoutAWarning) {
  if (std::system("command -v groff >/dev/null") != 0) {
    GTEST_SKIP() << "groff is not installed";
  }
  const std::string path = testing::TempDir() + "/man_page_test.1";
  for (const ManPage& page : Pages()) {
    ASSERT_TRUE(base::WriteFile(path, page.text).ok());
    EXPECT_EQ(std::system(absl::StrCat("test -z \"$(groff -man -ww -Tutf8 -z ",
                                       path, " 2>&1)\"")
                              .c_str()),
              0)
        << page.file;
  }
}

}  // namespace
}  // namespace meshwright::cli
