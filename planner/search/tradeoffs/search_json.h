// AnswerSearchJson: `meshwright search` without the command line.
//
// In → Out: a problem as JSON → the answer as JSON (docs/formats/search.md), or
// the whole front of time against memory.
// An infeasible problem is an answer: "feasible": false.
// Errors: those of ProblemFromJson and Solve, one sentence each.
#ifndef MESHWRIGHT_PLANNER_SEARCH_TRADEOFFS_SEARCH_JSON_H_
#define MESHWRIGHT_PLANNER_SEARCH_TRADEOFFS_SEARCH_JSON_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/deadline.h"
#include "planner/search/search.h"
#include "planner/search/tradeoffs/pareto_front.h"

namespace meshwright::search {

struct SearchWishes {
  base::Deadline deadline;
  std::optional<double> headroom_percent;  // instead of the problem's
  std::optional<int64_t> front_points;     // the front, not one plan
};

absl::StatusOr<std::string> AnswerSearchJson(std::string_view json,
                                             const SearchWishes& wishes = {});

std::string FrontToJson(const problem::PlanProblem& problem,
                        const MemoryFront& front);

std::string AnswerToJson(const problem::PlanProblem& problem,
                         const Answer& answer);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_TRADEOFFS_SEARCH_JSON_H_
