// Solve: a MultipleChoice as an integer program.
//
// Concept: undominated (dominance.h), made linear (linearization.h), solved by
// HiGHS (highs.h). What comes back is scored again in integers: a choice that
// passes a budget by one is no answer, however well it looks in floating point.
// The bound is the solver's, less what its tolerances may have added, rounded
// up to the integer that every cost must reach. In → Out: a problem → a choice,
// its cost and a bound from below. Errors: kInvalidArgument for a problem that
// does not validate, kInternal when the solver fails. Threads: any number at
// once.
#ifndef MESHWRIGHT_PLANNER_ILP_SOLVE_H_
#define MESHWRIGHT_PLANNER_ILP_SOLVE_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "base/deadline.h"
#include "planner/ilp/multiple_choice.h"

namespace meshwright::ilp {

struct Options {
  base::Deadline deadline;
  int64_t max_nodes = std::numeric_limits<int64_t>::max();
  std::vector<int> known;  // a choice to start from; empty: none
};

enum class Verdict {
  kOptimal,     // the bound is the cost
  kInfeasible,  // there is no choice
  kOpen,        // stopped, or floating point could not tell
};

struct Solution {
  Verdict verdict = Verdict::kOpen;
  std::optional<std::vector<int>> choice;  // the best met
  int64_t cost = 0;                        // of that choice
  int64_t bound = 0;                       // no choice costs less
};

absl::StatusOr<Solution> Solve(const MultipleChoice& problem,
                               const Options& options = {});

}  // namespace meshwright::ilp

#endif  // MESHWRIGHT_PLANNER_ILP_SOLVE_H_
