#include "planner/search/search_json.h"

#include "base/status_macros.h"
#include "nlohmann/json.hpp"
#include "planner/problem/problem_json.h"

namespace meshwright::search {

using nlohmann::ordered_json;

std::string AnswerToJson(const problem::PlanProblem& problem,
                         const Answer& answer) {
  ordered_json document;
  const auto optional = [](const std::optional<int64_t>& bytes) {
    return bytes.has_value() ? ordered_json(*bytes) : ordered_json();
  };
  document["feasible"] = answer.plan.has_value();
  if (answer.plan.has_value()) {
    document["seconds"] = problem::ToSeconds(answer.plan->time);
    document["lower_bound_seconds"] = problem::ToSeconds(answer.lower_bound);
    document["gap"] = answer.Gap();
    document["peak_bytes"] = answer.plan->peak_bytes;
    document["choice"] = answer.plan->choice;
  } else {
    for (const char* figure :
         {"seconds", "lower_bound_seconds", "gap", "peak_bytes", "choice"}) {
      document[figure] = nullptr;
    }
    document["least_memory_bytes"] = optional(answer.least_memory_bytes);
    document["limit_bytes"] = optional(problem.memory_limit_bytes);
  }
  document["solver"] = answer.solver;
  document["solve_seconds"] = answer.elapsed.count();
  return document.dump();
}

absl::StatusOr<std::string> SearchJson(std::string_view json,
                                       const Options& options) {
  ASSIGN_OR_RETURN(const problem::PlanProblem problem,
                   problem::ProblemFromJson(json));
  ASSIGN_OR_RETURN(const Answer answer, Solve(problem, options));
  return AnswerToJson(problem, answer);
}

}  // namespace meshwright::search
