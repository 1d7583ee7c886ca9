// SearchWithinMemory: the fastest plan whose peak fits.
//
// Concept: the search limits a sum over segments, which differs from the peak
// (problem/peak_timeline.h). After a search, the limit of the sum becomes that
// of the peak and the difference of the two in the plan found, and the search
// runs again: at most four times, and not after the deadline. Of the plans that
// fit the fastest is taken. Where none was found, one more search counts the
// gradients that are reduced as if they were saved. The lower bound covers the
// plans whose sum is within the widest limit searched, and the plan's own sum.
// In -> Out: a problem that limits memory, or does not -> an answer whose peak
// and least memory are those of peak_timeline.h, and the limit of its search.
// Errors: those of search::Solve.
#ifndef MESHWRIGHT_COORDINATOR_PLANNING_SEARCH_WITHIN_MEMORY_H_
#define MESHWRIGHT_COORDINATOR_PLANNING_SEARCH_WITHIN_MEMORY_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "coordinator/problem/plan_problem.h"
#include "planner/search/search.h"

namespace meshwright::planning {

struct WithinMemory {
  search::Answer answer;
  std::optional<int64_t> sum_limit_bytes;
};

absl::StatusOr<WithinMemory> SearchWithinMemory(
    const formulation::MeasuredProblem& measured,
    const search::Options& options = {});

}  // namespace meshwright::planning

#endif  // MESHWRIGHT_COORDINATOR_PLANNING_SEARCH_WITHIN_MEMORY_H_
