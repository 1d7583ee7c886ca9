// MakeOrders: what each stage runs, in which order, under a schedule.
//
// Concept: a stage runs some forwards to warm up, then one backward and one
// forward in turns, then the backwards that are left. The schedules differ in
// how many forwards that is; a stage of which q - 1 stages follow runs
//
//   gpipe             all of them; the backwards then come last one first
//   1f1b              q
//   eager-1f1b        2 (q - 1) + 1
//   eager-1f1b-delay  as eager-1f1b, its backward being the input's gradient
//                     alone: the simulator puts the weights' where there is
//                     time (simulate.h)
//
// and never more than there are micro-batches. As many activations are alive
// at most, but for delayed weight gradients.
// Source: papers/cross_mesh_resharding.txt section 4, Fig. 4; gpipe's reversed
// backwards are those of its own paper's Fig. 2.
#ifndef MESHWRIGHT_PLANNER_PIPELINE_ORDERS_H_
#define MESHWRIGHT_PLANNER_PIPELINE_ORDERS_H_

#include <vector>

#include "planner/pipeline/pipeline_problem.h"
#include "planner/pipeline/timeline.h"

namespace meshwright::pipeline {

// Per stage.
using StageOrders = std::vector<std::vector<Operation>>;

// Forwards before the first backward. `from_here`: the stage and those after
// it, at least 1.
int WarmUpForwards(Schedule schedule, int from_here, int micro_batches);

StageOrders MakeOrders(Schedule schedule, int stages, int micro_batches);

}  // namespace meshwright::pipeline

#endif  // MESHWRIGHT_PLANNER_PIPELINE_ORDERS_H_
