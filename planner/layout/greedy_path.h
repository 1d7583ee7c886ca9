// FindGreedyPath: the heuristic of MAP, to compare with.
//
// Concept: from the source, always take the all-gather, slice or all-to-all
// that leaves the least difference from the target. The difference of one
// dimension counts the gathers that reduce its axes to those in common with the
// target's, and the slices that follow. Each operation after the first adds a
// penalty. It ignores sizes and links; the cost of the path it finds is
// computed like that of any other.
// Ties: the first in the order of OneStep.
// In → Out: a valid problem → a path, or none where the difference cannot fall
// because a step does not align. (The paper then goes round for ever.)
// Source: papers/map_colossal_auto.txt 4.3, Algorithm 1; the weights are those
// of ColossalAI's sharding_spec.py.
#ifndef MESHWRIGHT_PLANNER_LAYOUT_GREEDY_PATH_H_
#define MESHWRIGHT_PLANNER_LAYOUT_GREEDY_PATH_H_

#include <optional>

#include "planner/layout/layout_problem.h"

namespace meshwright::layout {

// The paper's heuristic function, summed over the dimensions.
int64_t CountSpecDifference(const Spec& source, const Spec& target);

std::optional<Path> FindGreedyPath(const LayoutProblem& problem);

}  // namespace meshwright::layout

#endif  // MESHWRIGHT_PLANNER_LAYOUT_GREEDY_PATH_H_
