// Replay: whether a timeline keeps the rules; the judge of the simulator.
//
// Concept: knows nothing of schedules, orders or events, only the rules: every
// operation and transfer once and for as long as it takes, nothing before what
// it reads is there, nothing twice at a time on a stage or on a link in one
// direction, and without overlap no transfer that takes time beside anything
// else on its two stages. Recounts the step's time and every stage's peak by
// sorting, which is right where a micro-batch takes time at the stage. Errors:
// kInvalidArgument, one sentence that says which rule is broken where.
#ifndef MESHWRIGHT_PLANNER_PIPELINE_TESTING_REPLAY_H_
#define MESHWRIGHT_PLANNER_PIPELINE_TESTING_REPLAY_H_

#include <vector>

#include "absl/status/statusor.h"
#include "planner/pipeline/pipeline_problem.h"
#include "planner/pipeline/timeline.h"

namespace meshwright::pipeline {

struct Replayed {
  Picoseconds step{0};
  std::vector<int64_t> peak_bytes;  // per stage
};

absl::StatusOr<Replayed> Replay(const PipelineProblem& problem,
                                const Timeline& timeline);

}  // namespace meshwright::pipeline

#endif  // MESHWRIGHT_PLANNER_PIPELINE_TESTING_REPLAY_H_
