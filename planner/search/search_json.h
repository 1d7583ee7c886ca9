// SearchJson: `meshwright search` without the command line.
//
// In → Out: a problem as JSON → the answer as JSON (docs/formats/search.md).
// An infeasible problem is an answer: "feasible": false.
// Errors: those of ProblemFromJson and Solve, one sentence each.
#ifndef MESHWRIGHT_PLANNER_SEARCH_SEARCH_JSON_H_
#define MESHWRIGHT_PLANNER_SEARCH_SEARCH_JSON_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "planner/search/search.h"

namespace meshwright::search {

absl::StatusOr<std::string> SearchJson(std::string_view json,
                                       const Options& options = {});

std::string AnswerToJson(const problem::PlanProblem& problem,
                         const Answer& answer);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_SEARCH_JSON_H_
