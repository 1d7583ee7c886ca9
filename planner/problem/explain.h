// Explain: why each copy has the configuration it has.
//
// Concept: with the rest of the plan held fixed, every copy is moved to each
// other configuration allowed to it; the cheapest such move is its runner-up,
// and `saves` is what the chosen one saves against it. A tied node is moved as
// a whole. Moves over forbidden pairs do not count.
// In → Out: a validated problem and a plan → one Explanation per decision, in
// the order of nodes and copies.
// Errors: those of Evaluate.
#ifndef MESHWRIGHT_PLANNER_PROBLEM_EXPLAIN_H_
#define MESHWRIGHT_PLANNER_PROBLEM_EXPLAIN_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/problem/plan_problem.h"

namespace meshwright::problem {

struct RunnerUp {
  int config = 0;
  Picoseconds saves{0};    // negative: faster, but kept out by the limit
  int64_t peak_bytes = 0;  // of the plan with this move
  bool fits = true;        // within memory_limit_bytes
};

struct Explanation {
  int node = 0;
  int64_t copy = 0;  // 0 for a tied node
  int config = 0;
  std::optional<RunnerUp> runner_up;  // none: no other configuration is allowed
};

absl::StatusOr<std::vector<Explanation>> Explain(const PlanProblem& problem,
                                                 const Choice& choice);

}  // namespace meshwright::problem

#endif  // MESHWRIGHT_PLANNER_PROBLEM_EXPLAIN_H_
