// Search: the fastest plan of a PlanProblem.
//
// Concept: a path is solved exactly by dynamic programming with equal copies
// folded (graph/run.h), any other graph by eliminating variables
// (elimination/component.h). Under a memory limit bytes get a Lagrangian
// multiplier (constrained/lagrangian.h) for a plan and a bound. Labels
// (constrained/memory_constrained.h) close the gap between the two. After
// 40,000 of them only plans at least 9e-4 faster are sought, because the times
// of a problem are measured to 1 to 4 %. Every answer carries a lower bound,
// certified in integers and equal to its time where it is proved optimal.
// In → Out: a valid problem → an answer: a plan, or that none fits.
// Ties: one of the fastest plans, the same every time.
// Threads: any number at once; nothing is shared.
// Errors: kInvalidArgument for a problem that does not validate, kOutOfRange
// when every allowed plan takes over 23 days, kResourceExhausted when forbidden
// pairs hide whether there is a plan at all; kInternal for a fault of the
// search itself: its plan does not hold what it says. Source: papers/cfp.txt
// Eqs. 8 and 9; of the transients only the largest counts.
#ifndef MESHWRIGHT_PLANNER_SEARCH_SEARCH_H_
#define MESHWRIGHT_PLANNER_SEARCH_SEARCH_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "base/deadline.h"
#include "planner/problem/plan_problem.h"
#include "planner/search/graph/work_budget.h"

namespace meshwright::search {

struct Options {
  // Ends the search with the best plan so far. One that has passed when the
  // search begins still gives a plan, if there is one.
  base::Deadline deadline;
  WorkBudget work;
};

struct Plan {
  problem::Choice choice;
  problem::Picoseconds time{0};
  int64_t peak_bytes = 0;
};

struct Answer {
  std::optional<Plan> plan;  // empty: no plan is allowed and fits
  problem::Picoseconds lower_bound{0};
  // The need of the plan of minimum memory, when none fits; empty when
  // forbidden pairs leave no plan at all.
  std::optional<int64_t> least_memory_bytes;
  std::string solver;  // "chain", "elimination", "chain + labels", ...
  std::chrono::duration<double> elapsed{0};

  // (time - lower bound) / time; 0 for an optimal plan.
  double Gap() const;
};

absl::StatusOr<Answer> Solve(const problem::PlanProblem& problem,
                             const Options& options = {});

// For callers that can go on without an answer. In place of kResourceExhausted:
// neither a plan nor a minimum of memory, and a bound that says nothing.
absl::StatusOr<Answer> TrySolve(const problem::PlanProblem& problem,
                                const Options& options = {});

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_SEARCH_H_
