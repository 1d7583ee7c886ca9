// The coverage of a plan's programs, in words.
#ifndef MESHWRIGHT_CLI_TEXT_COVERAGE_TEXT_H_
#define MESHWRIGHT_CLI_TEXT_COVERAGE_TEXT_H_

#include <string>

#include "proto/v1/reports.pb.h"

namespace meshwright::cli {

std::string DescribeCoverage(const v1::CoverageReport& report);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_TEXT_COVERAGE_TEXT_H_
