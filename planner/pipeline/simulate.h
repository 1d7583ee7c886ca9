// Simulate: when everything runs, given what each stage runs in which order.
//
// Concept: an event simulation. A stage starts the next operation of its order
// as soon as it is free and what the operation reads has arrived. The result of
// a forward goes to the next stage. That of a backward (or of the gradient of
// the input alone) goes to the stage before.
//
// *With overlap* a transfer occupies its link in its direction, first come
// first served. *Without* it occupies both stages. A stage that has something
// to send computes nothing until it is sent, and transfers go before computing.
// Of those that want the same stage the one that waits longest goes. Ties go to
// the one with fewer before it on its link, then to a backward, then to the
// earlier stage. A stage that waits to send may receive, so nothing locks. A
// transfer that takes no time occupies nobody.
//
// *Delayed weights.* After the gradient of a stage's input, that of its weights
// waits until the stage has nothing else to run. At most `WeightDelay::max` of
// them wait at a time. One is also run before a forward that would not fit
// memory_limit_bytes beside it.
//
// In → Out: a valid problem and orders → the timeline. The answer is a function
// of the input: no clock, no chance.
// Time: O((operations + transfers) log stages).
// Errors: kInvalidArgument for orders that are not of the problem's operations
// or that wait for each other.
// Source: papers/cross_mesh_resharding.txt section 4.
#ifndef MESHWRIGHT_PLANNER_PIPELINE_SIMULATE_H_
#define MESHWRIGHT_PLANNER_PIPELINE_SIMULATE_H_

#include <limits>

#include "absl/status/statusor.h"
#include "planner/pipeline/orders.h"
#include "planner/pipeline/pipeline_problem.h"
#include "planner/pipeline/timeline.h"

namespace meshwright::pipeline {

struct WeightDelay {
  // How many weight gradients of a stage may wait while it runs something
  // else. 0: each directly follows that of the input.
  int max = 0;
  // Whether a stage stays idle, rather than start one, if its next input is on
  // its way and arrives before the gradient would be done.
  bool yields = false;
};

absl::StatusOr<Timeline> Simulate(const PipelineProblem& problem,
                                  const StageOrders& orders,
                                  const WeightDelay& delay = {});

}  // namespace meshwright::pipeline

#endif  // MESHWRIGHT_PLANNER_PIPELINE_SIMULATE_H_
