#include "cli/text/coverage_text.h"

#include <gtest/gtest.h>

namespace meshwright::cli {
namespace {

TEST(CoverageTextTest, SaysWhatIsKnownAndWhatTheRestCosts) {
  v1::CoverageReport report;
  report.set_model("llama");
  report.add_mesh(1);
  report.add_mesh(2);
  report.set_device("cpu cpu");
  report.set_programs(12);
  report.set_measured(11);
  report.set_noisy(2);
  report.set_failed(1);
  EXPECT_EQ(DescribeCoverage(report),
            "llama on 1x2 cpu cpu: 12 programs, 11 measured (2 noisy), 1 "
            "failed before, 0 unknown\na plan measures nothing\n");
  report.set_programs(20);
  report.set_unknown(8);
  report.set_compile_seconds(7.5);
  report.set_measure_seconds(2.5);
  report.set_basis("the model's own rows");
  report.set_basis_rows(11);
  EXPECT_EQ(DescribeCoverage(report),
            "llama on 1x2 cpu cpu: 20 programs, 11 measured (2 noisy), 1 "
            "failed before, 8 unknown\nthe unknown ones take at most about "
            "7.5 s to compile and 2.5 s to measure (from 11 of the model's "
            "own rows); a plan may exclude some of them\n");
  report.set_basis("no rows at all");
  report.set_basis_rows(0);
  report.set_is_guess(true);
  EXPECT_NE(DescribeCoverage(report).find(
                "to measure, a guess (from no rows at all)"),
            std::string::npos);
}

}  // namespace
}  // namespace meshwright::cli
