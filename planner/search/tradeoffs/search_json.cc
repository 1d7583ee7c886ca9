#include "planner/search/tradeoffs/search_json.h"

#include "base/status_macros.h"
#include "nlohmann/json.hpp"
#include "planner/problem/allowed.h"
#include "planner/problem/problem_json.h"
#include "planner/problem/uncertainty.h"

namespace meshwright::search {

using nlohmann::ordered_json;

namespace {

ordered_json Optional(const std::optional<int64_t>& bytes) {
  return bytes.has_value() ? ordered_json(*bytes) : ordered_json();
}

}  // namespace

std::string AnswerToJson(const problem::PlanProblem& problem,
                         const Answer& answer) {
  ordered_json document;
  document["feasible"] = answer.plan.has_value();
  if (answer.plan.has_value()) {
    document["seconds"] = problem::ToSeconds(answer.plan->time);
    if (problem::IsUncertain(problem)) {
      const auto noise = problem::EstimateNoise(problem, answer.plan->choice);
      if (noise.ok()) {
        document["interval_seconds"] = {
            problem::ToSeconds(answer.plan->time - noise->below),
            problem::ToSeconds(answer.plan->time + noise->above)};
      }
    }
    document["lower_bound_seconds"] = problem::ToSeconds(answer.lower_bound);
    document["gap"] = answer.Gap();
    document["peak_bytes"] = answer.plan->peak_bytes;
    document["choice"] = answer.plan->choice;
  } else {
    for (const char* figure :
         {"seconds", "lower_bound_seconds", "gap", "peak_bytes", "choice"}) {
      document[figure] = nullptr;
    }
    document["least_memory_bytes"] = Optional(answer.least_memory_bytes);
    document["limit_bytes"] = Optional(problem::ComputeUsableBytes(problem));
  }
  document["solver"] = answer.solver;
  document["solve_seconds"] = answer.elapsed.count();
  return document.dump();
}

std::string FrontToJson(const problem::PlanProblem& problem,
                        const MemoryFront& front) {
  ordered_json document;
  document["front"] = ordered_json::array();
  for (const FrontPoint& point : front.points) {
    const bool no_more = point.limit_bytes == INT64_MAX;
    document["front"].push_back(
        {{"seconds", problem::ToSeconds(point.plan.time)},
         {"lower_bound_seconds", problem::ToSeconds(point.lower_bound)},
         {"peak_bytes", point.plan.peak_bytes},
         {"limit_bytes",
          no_more ? ordered_json() : ordered_json(point.limit_bytes)},
         {"choice", point.plan.choice}});
  }
  document["complete"] = front.is_complete;
  document["least_memory_bytes"] = Optional(front.least_memory_bytes);
  document["limit_bytes"] = Optional(problem::ComputeUsableBytes(problem));
  document["solve_seconds"] = front.elapsed.count();
  return document.dump();
}

absl::StatusOr<std::string> AnswerSearchJson(std::string_view json,
                                             const SearchWishes& wishes) {
  ASSIGN_OR_RETURN(problem::PlanProblem problem,
                   problem::ProblemFromJson(json));
  if (wishes.headroom_percent.has_value()) {
    problem.headroom_percent = *wishes.headroom_percent;
  }
  const Options options{.deadline = wishes.deadline};
  if (wishes.front_points.has_value()) {
    ASSIGN_OR_RETURN(const MemoryFront front,
                     FindFront(problem, *wishes.front_points, options));
    return FrontToJson(problem, front);
  }
  ASSIGN_OR_RETURN(const Answer answer, Solve(problem, options));
  return AnswerToJson(problem, answer);
}

}  // namespace meshwright::search
