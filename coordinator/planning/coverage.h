// CoverPlan: what a store knows of a plan's programs before anything is run.
//
// Concept: a request is analysed and its programs are looked up. Those without
// a row would be compiled and timed; an estimate says for how long, from rows
// that are as near as there are:
//
//   rows of the model's own programs   on these devices
//   other rows                         of these devices
//   other rows                         of other devices: a guess
//   none                               fixed figures: a guess
//
// The estimate is an upper bound in one respect. A plan leaves out programs
// that rivals exclude, and these are only known once some are measured. In →
// Out: a request with a module, and devices → the report. Nothing is measured
// or recorded. Units: seconds of one device group that works alone. Threads:
// one. Errors: those of OpenStep and of the store; kInvalidArgument for a
// request with stages.
#ifndef MESHWRIGHT_COORDINATOR_PLANNING_COVERAGE_H_
#define MESHWRIGHT_COORDINATOR_PLANNING_COVERAGE_H_

#include "absl/status/statusor.h"
#include "coordinator/planning/measuring.h"
#include "proto/v1/plan.pb.h"
#include "proto/v1/reports.pb.h"

namespace meshwright::planning {

// So many rows make an average.
inline constexpr int kMinCoverageRows = 3;
// Of a program of which nothing is known.
inline constexpr double kGuessedCompileSeconds = 1;
inline constexpr double kGuessedMeasureSeconds = 0.5;

absl::StatusOr<v1::CoverageReport> CoverPlan(
    const v1::PlanRequest& request, const PlanDependencies& dependencies);

}  // namespace meshwright::planning

#endif  // MESHWRIGHT_COORDINATOR_PLANNING_COVERAGE_H_
