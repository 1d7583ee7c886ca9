// Search: the fastest plan of a PlanProblem.
//
// Concept: paths are solved exactly by dynamic programming with equal copies
// folded (run.h), other graphs by eliminating variables (component.h). A memory
// limit is priced for the bound; detours (limited_line.h) or labels (limited.h)
// give the proof. What these leave open goes to an integer program (by_ilp.h).
// Where all that would take more than the effort allowed, the answer is the
// best plan met. Every answer carries a lower bound, equal to its time when it
// is optimal; it is certified in integers, but where an integer program raised
// it, which the solver's name says.
// In → Out: a valid problem → an answer: a plan, or that none fits.
// Ties: among plans of equal time the lexicographically smallest choice in
// file order, if the search was exact and the limit does not bind. Under a
// binding limit the smallest on a path in file order without long runs
// (blocks.h); otherwise some plan, the same each time.
// Threads: any number at once; nothing is shared.
// Errors: kInvalidArgument for a problem that does not validate, kOutOfRange
// when every allowed plan takes over 23 days, kResourceExhausted when forbidden
// pairs hide whether there is a plan at all.
// Source: papers/cfp.txt Eqs. 8 and 9, sharpened as design section 7 says.
#ifndef MESHWRIGHT_PLANNER_SEARCH_SEARCH_H_
#define MESHWRIGHT_PLANNER_SEARCH_SEARCH_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "absl/status/statusor.h"
#include "planner/problem/plan_problem.h"
#include "planner/search/effort.h"

namespace meshwright::search {

// Either ends the search early with the best plan so far. One that is past
// when the search begins still gives a plan, if there is one.
struct Options {
  std::optional<std::chrono::steady_clock::time_point> deadline;
  std::stop_token stop;
  Effort effort;
};

struct Plan {
  problem::Choice choice;
  problem::Picoseconds time{0};
  int64_t peak_bytes = 0;
};

struct Answer {
  std::optional<Plan> plan;  // empty: no plan is allowed and fits
  problem::Picoseconds lower_bound{0};
  // What the most frugal plan needs, when none fits; empty when forbidden
  // pairs leave no plan at all.
  std::optional<int64_t> least_memory_bytes;
  std::string solver;  // "chain", "elimination", "chain + labels", ...
  std::chrono::duration<double> elapsed{0};

  // (time - lower bound) / time; 0 for an optimal plan.
  double Gap() const;
};

absl::StatusOr<Answer> Solve(const problem::PlanProblem& problem,
                             const Options& options = {});

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_SEARCH_H_
