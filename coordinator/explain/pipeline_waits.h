// What the step of a plan with stages waits for, from the plan alone.
//
// Concept: the pipeline is simulated again, as the plan runs it, with one thing
// made faster at a time: a tenth less of a stage's passes, a boundary that
// takes no time. What does not shorten the step is hidden behind something
// else. In -> Out: a plan with stages -> seconds.
// Errors: kInvalidArgument for a plan whose stages are none.
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
