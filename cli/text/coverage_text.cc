#include "cli/text/coverage_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/text/format.h"
#include "cli/text/tame.h"

namespace meshwright::cli {

std::string DescribeCoverage(const v1::CoverageReport& report) {
  std::string text = absl::StrCat(
      Tame(report.model()), " on ", absl::StrJoin(report.mesh(), "x"), " ",
      Tame(report.device()), ": ", report.programs(), " programs, ",
      report.measured(), " measured (", report.noisy(), " noisy), ",
      report.failed(), " failed before, ", report.unknown(), " unknown\n");
  if (report.unknown() == 0) {
    return absl::StrCat(text, "a plan measures nothing\n");
  }
  const std::string rows =
      report.basis_rows() > 0 ? absl::StrCat(report.basis_rows(), " of ") : "";
  return absl::StrCat(
      text, "the unknown ones take at most about ",
      FormatSeconds(report.compile_seconds()), " to compile and ",
      FormatSeconds(report.measure_seconds()), " to measure",
      report.is_guess() ? ", a guess" : "", " (from ", rows,
      Tame(report.basis()), "); a plan may exclude some of them\n");
}

}  // namespace meshwright::cli
