// The report of a validation (docs/formats/validate.md) as text for people.
#ifndef MESHWRIGHT_CLI_TEXT_VALIDATION_TEXT_H_
#define MESHWRIGHT_CLI_TEXT_VALIDATION_TEXT_H_

#include <string>

#include "proto/v1/reports.pb.h"

namespace meshwright::cli {

std::string DescribeValidation(const v1::ValidationReport& report);
std::string DescribeStagedValidation(const v1::StagedValidationReport& report);

// The same, or the JSON of the page.
std::string FormatValidation(const v1::ValidationReport& report, bool as_json);
std::string FormatValidation(const v1::StagedValidationReport& report,
                             bool as_json);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_TEXT_VALIDATION_TEXT_H_
