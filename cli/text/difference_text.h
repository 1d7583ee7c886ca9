// The difference of two plans as JSON (docs/formats/diff.md) and as text.
#ifndef MESHWRIGHT_CLI_TEXT_DIFFERENCE_TEXT_H_
#define MESHWRIGHT_CLI_TEXT_DIFFERENCE_TEXT_H_

#include <nlohmann/json.hpp>
#include <string>

#include "proto/v1/plan.pb.h"

namespace meshwright::cli {

nlohmann::ordered_json DifferenceToJson(const v1::Plan& a, const v1::Plan& b);
std::string DescribeDifference(const v1::Plan& a, const v1::Plan& b);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_TEXT_DIFFERENCE_TEXT_H_
