// An explanation as text for people: what each choice of a plan saves.
#ifndef MESHWRIGHT_CLI_TEXT_EXPLANATION_TEXT_H_
#define MESHWRIGHT_CLI_TEXT_EXPLANATION_TEXT_H_

#include <nlohmann/json.hpp>
#include <string>

#include "coordinator/explain/pipeline_waits.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::cli {

std::string DescribeExplanation(const v1::PlanExplanation& explanation);

// What the pipeline waits for.
nlohmann::ordered_json WaitsJson(const explain::StagesExplanation& explanation);
std::string DescribeWaits(const explain::StagesExplanation& explanation);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_TEXT_EXPLANATION_TEXT_H_
