// PipelineWaits: the parts of a pipeline that make its step long.
//
// Concept: the pipeline is simulated again as the plan runs it, with one part
// made faster at a time: a tenth less of a stage's passes, or a boundary that
// takes no time. A part that does not shorten the step is hidden.
// In -> Out: a plan with stages, alone -> seconds.
// Errors: kInvalidArgument for stages that form no pipeline.
#ifndef MESHWRIGHT_COORDINATOR_EXPLAIN_PIPELINE_WAITS_H_
#define MESHWRIGHT_COORDINATOR_EXPLAIN_PIPELINE_WAITS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::explain {

struct PipelineWaits {
  struct Stage {
    double busy_seconds = 0;  // of the step; its update included
    double idle_seconds = 0;
    double tenth_saves_seconds = 0;
  };
  std::vector<Stage> stages;
  std::vector<double> boundary_seconds;  // what each adds to the step
  double shared_seconds = 0;
};

// The step simulated from the times in the plan, shared parameters included.
absl::StatusOr<double> SimulateStep(const v1::Plan& plan);

absl::StatusOr<PipelineWaits> FindPipelineWaits(const v1::Plan& plan);

}  // namespace meshwright::explain

#endif  // MESHWRIGHT_COORDINATOR_EXPLAIN_PIPELINE_WAITS_H_
