// Exhaustive: the oracle. Every sender for every task in every order, each
// scored as it grows; nothing is pruned but prefixes already no better than a
// whole schedule. For up to seven tasks or so. Written against the problem, not
// against the solvers' instance.
#ifndef MESHWRIGHT_PLANNER_RESHARD_TESTING_EXHAUSTIVE_H_
#define MESHWRIGHT_PLANNER_RESHARD_TESTING_EXHAUSTIVE_H_

#include "planner/reshard/problem/durations.h"
#include "planner/reshard/problem/reshard_problem.h"

namespace meshwright::reshard {

// The least makespan. The problem must be valid and not allow splitting.
Ticks MinimumMakespan(const ReshardProblem& problem);

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_TESTING_EXHAUSTIVE_H_
