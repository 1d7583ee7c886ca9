// Verdicts: what a plan says of configurations that were not measured, and what
// its lower bound makes of them.
//
// Concept: a configuration that another plan measured is known, whatever the
// selection decided. Of those without rows, the excluded ones are no part of a
// faster plan. Those not reached may be, so the bound takes them at the low end
// of their estimates. The certificate covers measured configurations. Where a
// plan was asked not to wait and the decision still wants programs, a note says
// how many.
// In → Out: a decision and a step with its results → the step with its verdicts
// and counts.
// Errors: those of BuildProblem and search::Solve.
#ifndef MESHWRIGHT_COORDINATOR_PLANNING_VERDICTS_H_
#define MESHWRIGHT_COORDINATOR_PLANNING_VERDICTS_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "coordinator/planning/measured_step.h"
#include "coordinator/selection/selection.h"
#include "planner/search/search.h"

namespace meshwright::planning {

// `step` has its results. The verdicts take the place of earlier ones.
void TakeVerdicts(const selection::Decision& decision, MeasuredStep& step);

// No plan is faster than that, unless an estimate is off by more than its
// margin; `bound` is that of the measured problem, searched within that limit.
// 0 where that search ends without an answer.
absl::StatusOr<problem::Picoseconds> BoundWithNotReached(
    const MeasuredStep& step, std::optional<int64_t> sum_limit_bytes,
    problem::Picoseconds bound, const search::Options& options);

}  // namespace meshwright::planning

#endif  // MESHWRIGHT_COORDINATOR_PLANNING_VERDICTS_H_
