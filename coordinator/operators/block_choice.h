// BlockChoice: an op-level plan as strategies of ParallelBlocks.
//
// Concept: a plan of operators may split every contraction as it likes; the
// space has one strategy per block. Each block takes the strategy that splits
// its root contractions most like the plan, axis by axis, weighted by their
// arithmetic; among equals the first.
// Threads: pure functions.
// Shapes: one strategy index per block.
#ifndef MESHWRIGHT_COORDINATOR_OPERATORS_BLOCK_CHOICE_H_
#define MESHWRIGHT_COORDINATOR_OPERATORS_BLOCK_CHOICE_H_

#include <vector>

#include "coordinator/operators/intraop_model.h"
#include "planner/intraop/solve.h"

namespace meshwright::operators {

std::vector<int> FindNearestStrategies(const segmenter::Analysis& analysis,
                                       const IntraOpModel& read,
                                       const intraop::IntraOpPlan& plan);

}  // namespace meshwright::operators

#endif  // MESHWRIGHT_COORDINATOR_OPERATORS_BLOCK_CHOICE_H_
