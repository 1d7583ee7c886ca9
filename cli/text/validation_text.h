// The report of a validation (docs/formats/validate.md) as text for people.
#ifndef MESHWRIGHT_CLI_TEXT_VALIDATION_TEXT_H_
#define MESHWRIGHT_CLI_TEXT_VALIDATION_TEXT_H_

#include <nlohmann/json.hpp>
#include <string>

namespace meshwright::cli {

std::string ValidationText(const nlohmann::ordered_json& report);
// Of a plan with stages.
std::string StagedValidationText(const nlohmann::ordered_json& report);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_TEXT_VALIDATION_TEXT_H_
