// WorthGrouping: which configurations a run of equal segments may take in
// groups.
//
// Concept: every one that stands in the problem at every position of a group is
// a dozen configurations more, and a program that must be measured. Under a
// short memory few matter: what the best plan takes, what the most frugal plan
// takes, and of those that recompute the fastest and the one that keeps least.
// In → Out: a measured step with recomputation open → the configurations that
// recompute, as StrategyRequest.grouped wants them, kMostGrouped per type at
// most; none where no type has groups.
// Errors: those of search::Solve.
#ifndef MESHWRIGHT_COORDINATOR_PLANNING_RECOMPUTE_CANDIDATES_H_
#define MESHWRIGHT_COORDINATOR_PLANNING_RECOMPUTE_CANDIDATES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/planning/measured_step.h"

namespace meshwright::planning {

inline constexpr int kMostGrouped = 4;

absl::StatusOr<std::vector<std::string>> WorthGrouping(
    const MeasuredStep& step);

}  // namespace meshwright::planning

#endif  // MESHWRIGHT_COORDINATOR_PLANNING_RECOMPUTE_CANDIDATES_H_
