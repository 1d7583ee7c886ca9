// FindMemoryMultiplier: what a byte is worth where a memory limit binds.
//
// Concept: the fastest plan under a limit is about the one of minimum time +
// multiplier * bytes. The multiplier (of Lagrange) is the smallest one whose
// plan fits, found by bisection. 0 where the fastest plan of all fits; the
// largest one tried where none does, or where the search knows of no plan, so
// that the configurations of minimum memory stay.
// Errors: those of search::TrySolve. Once the deadline has passed, any
// multiplier may be the answer.
#ifndef MESHWRIGHT_COORDINATOR_SELECTION_MEMORY_MULTIPLIER_H_
#define MESHWRIGHT_COORDINATOR_SELECTION_MEMORY_MULTIPLIER_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "planner/problem/plan_problem.h"
#include "planner/search/search.h"

namespace meshwright::selection {

// Picoseconds per byte. `problem` has no limit of its own.
absl::StatusOr<double> FindMemoryMultiplier(
    const problem::PlanProblem& problem, int64_t limit_bytes,
    const search::Options& options = {});

}  // namespace meshwright::selection

#endif  // MESHWRIGHT_COORDINATOR_SELECTION_MEMORY_MULTIPLIER_H_
