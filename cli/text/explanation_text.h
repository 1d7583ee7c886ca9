// The explanation of a plan as text for people.
#ifndef MESHWRIGHT_CLI_TEXT_EXPLANATION_TEXT_H_
#define MESHWRIGHT_CLI_TEXT_EXPLANATION_TEXT_H_

#include <string>

#include "proto/v1/plan.pb.h"
#include "proto/v1/reports.pb.h"

namespace meshwright::cli {

std::string DescribeExplanation(const v1::PlanExplanation& explanation);

std::string DescribeWaits(const v1::PipelineWaits& waits);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_TEXT_EXPLANATION_TEXT_H_
