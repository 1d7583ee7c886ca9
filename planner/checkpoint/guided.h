// GuidedDecide: decisions that never leave the memory, led by an estimate.
//
// Concept: looks one decision ahead. Of the ways whose intervals both still
// have their minimum memory, in exact bytes, takes that of the smallest
// estimate. Whatever the estimate is worth, the schedule therefore fits.
// Ties: save before keep, then the earliest k.
#ifndef MESHWRIGHT_PLANNER_CHECKPOINT_GUIDED_H_
#define MESHWRIGHT_PLANNER_CHECKPOINT_GUIDED_H_

#include <functional>

#include "planner/checkpoint/costs.h"
#include "planner/checkpoint/min_memory.h"
#include "planner/checkpoint/unroll.h"

namespace meshwright::checkpoint {

// The picoseconds run twice in an interval that has at least its least memory
// and less than all it can use.
using Estimate = std::function<double(const Interval&)>;

// `costs` and `memory` outlive the result.
Decide GuidedDecide(const Costs& costs, const MinMemory& memory,
                    Estimate estimate);

// Knows nothing: from the forwards of the interval at its least memory to none
// at all it can use, along a straight line.
double EstimateStraight(const Costs& costs, const MinMemory& memory,
                        const Interval& interval);

}  // namespace meshwright::checkpoint

#endif  // MESHWRIGHT_PLANNER_CHECKPOINT_GUIDED_H_
