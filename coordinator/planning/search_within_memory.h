// SearchWithinMemory: the fastest plan whose peak fits.
//
// Concept: the search limits a sum over segments, which differs from the peak
// (problem/peak_timeline.h). After a search, the limit of the sum becomes that
// of the peak and the difference of the two in the plan found, and the search
// runs again: at most four times, and not after the deadline. Of the plans that
// fit the fastest is taken. Where none was found, the gradients that are
// reduced may be what does not fit. Configurations that no plan within the
// limit has are left out. One more search counts the gradients as if they were
// saved. Others weigh them against the sum; halving finds the weight at which
// both limits bind. The lower bound covers the plans whose sum is within the
// widest limit searched, and the plan's own sum.
// An answer without a plan is no proof: two limits that one weighted sum stands
// for may leave a plan out. Of random problems that a plan fits, the searches
// find none for up to 5 %.
// In -> Out: a problem that limits memory, or does not -> an answer whose peak
// and least memory are those of peak_timeline.h, and the limit of its search.
// The least memory is that of the smallest plan found.
// Errors: those of search::Solve of the problem itself. A later search that
// ends without an answer leaves the plan of an earlier one.
// Source: for the weights, the Lagrangian dual of two limits.
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
