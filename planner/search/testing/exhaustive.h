// SolveExhaustively: every plan, evaluated; the oracle of the tests.
//
// Concept: shares nothing with the solver but the problem and the evaluator.
// Plans are visited in lexicographic order, so the first of the least time is
// the smallest. For tests only: the cost is configurations to the power of
// copies.
#ifndef MESHWRIGHT_PLANNER_SEARCH_TESTING_EXHAUSTIVE_H_
#define MESHWRIGHT_PLANNER_SEARCH_TESTING_EXHAUSTIVE_H_

#include <cstdint>
#include <optional>

#include "planner/problem/plan_problem.h"

namespace meshwright::search {

struct Exhaustive {
  std::optional<problem::Choice> choice;  // empty: none is allowed and fits
  problem::Picoseconds time{0};
  std::optional<int64_t> least_memory_bytes;  // of any allowed plan
};

Exhaustive SolveExhaustively(const problem::PlanProblem& problem);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_TESTING_EXHAUSTIVE_H_
