// The explanation of a plan as text for people, and its waits as JSON.
#ifndef MESHWRIGHT_CLI_TEXT_EXPLANATION_TEXT_H_
#define MESHWRIGHT_CLI_TEXT_EXPLANATION_TEXT_H_

#include <nlohmann/json.hpp>
#include <string>

#include "coordinator/explain/pipeline_waits.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::cli {

std::string DescribeExplanation(const v1::PlanExplanation& explanation);

nlohmann::ordered_json WaitsJson(const explain::PipelineWaits& waits);
std::string DescribeWaits(const explain::PipelineWaits& waits);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_TEXT_EXPLANATION_TEXT_H_
