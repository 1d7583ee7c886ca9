// The costs of a step's configurations in a stage.
//
// Concept: the step's plan problem, with what a pipeline changes. One sum of
// gradients is kept for all micro-batches. Where the module is the step of one
// micro-batch, a configuration takes its passes and the update's part of one
// pass of so many.
// Units: bytes per device; picoseconds.
// Errors: those of formulation::BuildProblem.
#ifndef MESHWRIGHT_COORDINATOR_STAGES_STAGE_COSTS_H_
#define MESHWRIGHT_COORDINATOR_STAGES_STAGE_COSTS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "coordinator/planning/plan_pipeline.h"
#include "coordinator/stages/pass_time_split.h"
#include "planner/problem/plan_problem.h"

namespace meshwright::stages {

// `own`: trips of the step's own loop over micro-batches; `micro_batches`: of a
// step.
absl::StatusOr<formulation::MeasuredProblem> BuildStageProblem(
    const planning::MeasuredStep& step, int64_t own, int64_t micro_batches);

// `repeats`: passes to an update.
problem::Config ChargePerPass(problem::Config config, const PassTimes& times,
                              int64_t repeats);

}  // namespace meshwright::stages

#endif  // MESHWRIGHT_COORDINATOR_STAGES_STAGE_COSTS_H_
