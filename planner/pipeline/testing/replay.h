// Replay: whether a timeline keeps the rules; the judge of the simulator.
//
// Concept: knows nothing of schedules, orders or events, only the rules. Every
// operation and transfer stands there once and for as long as it takes, and
// nothing runs before what it reads is there. A stage, and a link in one
// direction, does one thing at a time. Without overlap no transfer that takes
// time runs beside anything else on its two stages. Recounts the step's time
// and every stage's peak by sorting, which is right where a micro-batch takes
// time at the stage. Errors: kInvalidArgument, one sentence that says which
// rule is broken where.
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
