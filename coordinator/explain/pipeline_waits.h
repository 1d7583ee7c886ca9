// PipelineWaits: the parts of a pipeline that make its step long.
//
// Concept: the pipeline is simulated again as the plan runs it, with one part
// made faster at a time. A stage's passes take a tenth less, or a boundary
// takes no time. A part that does not shorten the step is hidden.
// In -> Out: a plan with stages, alone -> seconds.
// Errors: kInvalidArgument for stages that form no pipeline.
#ifndef MESHWRIGHT_COORDINATOR_EXPLAIN_PIPELINE_WAITS_H_
#define MESHWRIGHT_COORDINATOR_EXPLAIN_PIPELINE_WAITS_H_

#include "absl/status/statusor.h"
#include "proto/v1/plan.pb.h"
#include "proto/v1/reports.pb.h"

namespace meshwright::explain {

// The step simulated from the times in the plan, shared parameters included.
absl::StatusOr<double> SimulateStep(const v1::Plan& plan);

absl::StatusOr<v1::PipelineWaits> FindPipelineWaits(const v1::Plan& plan);

}  // namespace meshwright::explain

#endif  // MESHWRIGHT_COORDINATOR_EXPLAIN_PIPELINE_WAITS_H_
