// The stages of a plan as text for people, and as a trace.
//
// Errors: kInvalidArgument for stages that form no pipeline.
#ifndef MESHWRIGHT_CLI_TEXT_STAGES_TEXT_H_
#define MESHWRIGHT_CLI_TEXT_STAGES_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::cli {

// Runs of equal segments on one line, "2-13  type 1  rows, columns", under a
// title. `first` is the number of the first segment.
void DescribeSegments(
    const std::string& title,
    const google::protobuf::RepeatedPtrField<v1::PlanSegment>& segments,
    int first, std::string* text);

// Nothing for a plan without stages.
void DescribeStages(const v1::Plan& plan, std::string* text);

// The timeline of its pipeline (planner/pipeline/trace.h).
absl::StatusOr<std::string> TraceStages(const v1::Plan& plan);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_TEXT_STAGES_TEXT_H_
