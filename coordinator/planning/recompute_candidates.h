// FindRecomputeCandidates: which configurations a run of equal segments may
// take in groups.
//
// Concept: every configuration that stands in the problem at every position of
// a group adds a dozen configurations, and a program that must be measured.
// Under memory pressure few matter: those of the best plan and of the plan of
// minimum memory. Of those that recompute, the fastest and the one that keeps
// the fewest bytes matter, too.
// In → Out: a measured step with recomputation open → the configurations that
// recompute, as StrategyRequest.grouped wants them. At most kMaxGrouped per
// type; none where no type has groups. A plan that the search does not know
// adds none.
// Errors: those of search::TrySolve.
#ifndef MESHWRIGHT_COORDINATOR_PLANNING_RECOMPUTE_CANDIDATES_H_
#define MESHWRIGHT_COORDINATOR_PLANNING_RECOMPUTE_CANDIDATES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/planning/measured_step.h"
#include "planner/search/search.h"

namespace meshwright::planning {

inline constexpr int kMaxGrouped = 4;

absl::StatusOr<std::vector<std::string>> FindRecomputeCandidates(
    const MeasuredStep& step, const search::Options& options = {});

}  // namespace meshwright::planning

#endif  // MESHWRIGHT_COORDINATOR_PLANNING_RECOMPUTE_CANDIDATES_H_
