// Validate: whether a PipelineProblem can be trusted by the simulator.
//
// Errors: kInvalidArgument in one sentence that names the field, as written in
// the JSON format ("transfers has 1 entries; 3 stages have 2 between them").
#ifndef MESHWRIGHT_PLANNER_PIPELINE_VALIDATE_H_
#define MESHWRIGHT_PLANNER_PIPELINE_VALIDATE_H_

#include <string>

#include "absl/status/status.h"
#include "planner/pipeline/pipeline_problem.h"

namespace meshwright::pipeline {

inline constexpr int kMaxStages = 4096;
// Stages times micro-batches: what one simulation holds.
inline constexpr int64_t kMaxForwards = int64_t{1} << 21;
inline constexpr int64_t kMaxBytes = int64_t{1} << 61;

// Also that the step, everything run one after the other, ends within
// problem::kMaxTime, and that no sum of bytes passes kMaxBytes; so nothing
// overflows.
absl::Status Validate(const PipelineProblem& problem);

// One stage alone; `field` says where it stands ("stages[2]").
absl::Status ValidateStage(const Stage& stage, const std::string& field);
absl::Status ValidateMicroBatches(int64_t micro_batches);

}  // namespace meshwright::pipeline

#endif  // MESHWRIGHT_PLANNER_PIPELINE_VALIDATE_H_
