// What a validation found, as JSON (docs/formats/validate.md) and for people.
#ifndef MESHWRIGHT_CLI_VALIDATION_REPORT_H_
#define MESHWRIGHT_CLI_VALIDATION_REPORT_H_

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/planning.h"
#include "proto/v1/job.pb.h"

namespace meshwright::cli {

// By key of their programs.
using Results = std::map<std::string, v1::ProfileResult>;

// `on_others`: of those that were run again (other_inputs.h).
nlohmann::ordered_json ValidationReport(const Validation& validation,
                                        const Results& results,
                                        const Results& on_others);

std::string ValidationText(const nlohmann::ordered_json& report);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_VALIDATION_REPORT_H_
