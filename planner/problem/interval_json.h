// The intervals of a problem as JSON: `seconds_interval` and `table_intervals`
// of docs/formats/search.md.
//
// Errors: kInvalidArgument in one sentence that names the field.
#ifndef MESHWRIGHT_PLANNER_PROBLEM_INTERVAL_JSON_H_
#define MESHWRIGHT_PLANNER_PROBLEM_INTERVAL_JSON_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "planner/problem/plan_problem.h"

namespace meshwright::problem {

// [lo, hi] in seconds, around `time`.
absl::StatusOr<Spread> ReadInterval(const nlohmann::json& value,
                                    Picoseconds time, const std::string& field);
nlohmann::json WriteInterval(Picoseconds time, const Spread& spread);

// The optional member; the tables of `problem` have been read.
absl::Status ReadTableIntervals(const nlohmann::json& document,
                                PlanProblem& problem);
// Nothing where every entry is exact.
void WriteTableIntervals(const PlanProblem& problem, nlohmann::json& document);

}  // namespace meshwright::problem

#endif  // MESHWRIGHT_PLANNER_PROBLEM_INTERVAL_JSON_H_
