// BreakTies: one plan out of those that the measurements cannot tell apart.
//
// Concept: measured again on equal hardware, the plan that was the fastest by a
// hair may not be so any more. A plan ties with the fastest if its time lies
// within the fastest one's interval (uncertainty.h), and at most a share of it
// above. Of those that tie, and in which all segments of a type take one
// configuration, the first in a fixed order is taken. The order goes type by
// type, those of most copies first, by the number of the configuration. Numbers
// know nothing of times; in a profile space 0 is data parallelism. Where none
// of them ties, the fastest stays.
//
//   fastest ────────┤ interval
//      *   3   1      0                1, 3: others that tie
//          └───┴─── the lowest number of these is taken: 1
//
// Why whole types: as many copies changed as the interval pays for would depend
// on the last digit of a time.
// In → Out: a valid problem, its fastest plan → that plan or one that ties.
// Errors: those of Evaluate, for a `fastest` that is no plan of the problem.
// Source: docs/decisions/search.md.
#ifndef MESHWRIGHT_PLANNER_SEARCH_TRADEOFFS_TIES_H_
#define MESHWRIGHT_PLANNER_SEARCH_TRADEOFFS_TIES_H_

#include "absl/status/statusor.h"
#include "planner/problem/plan_problem.h"
#include "planner/search/search.h"

namespace meshwright::search {

// Within the limit of the problem, as `fastest` is. `max_loss`: a plan that
// takes more than this share longer does not tie, however unsure the times are.
absl::StatusOr<Plan> BreakTies(const problem::PlanProblem& problem,
                               const Plan& fastest, double max_loss,
                               const Options& options = {});

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_TRADEOFFS_TIES_H_
