#include "coordinator/planning/search_within_memory.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "coordinator/problem/peak_timeline.h"
#include "planner/problem/evaluate.h"

namespace meshwright::planning {
namespace {

constexpr int kMaxSearches = 4;

// The plan whose sum is the least where no plan's is within the limit.
absl::StatusOr<search::Answer> SearchAtAll(problem::PlanProblem& problem,
                                           const search::Options& options) {
  ASSIGN_OR_RETURN(search::Answer answer, search::Solve(problem, options));
  if (answer.plan.has_value() || !answer.least_memory_bytes.has_value()) {
    return answer;
  }
  problem.memory_limit_bytes = answer.least_memory_bytes;
  return search::Solve(problem, options);
}

// No plan's sum is less than its peak then.
problem::PlanProblem CountGradients(
    const formulation::MeasuredProblem& measured) {
  problem::PlanProblem problem = measured.problem;
  for (size_t t = 0; t < problem.types.size(); ++t) {
    std::vector<problem::Config>& configs = problem.types[t].configs;
    for (size_t c = 0; c < configs.size(); ++c) {
      configs[c].saved_bytes =
          std::max(configs[c].saved_bytes, 2 * measured.timeline[t][c].reduced);
    }
  }
  return problem;
}

}  // namespace

absl::StatusOr<WithinMemory> SearchWithinMemory(
    const formulation::MeasuredProblem& measured,
    const search::Options& options) {
  problem::PlanProblem problem = measured.problem;
  const std::optional<int64_t> limit = problem.memory_limit_bytes;
  ASSIGN_OR_RETURN(search::Answer answer, SearchAtAll(problem, options));
  WithinMemory best{answer, limit};
  best.answer.plan.reset();
  for (int searches = 1; answer.plan.has_value(); ++searches) {
    search::Plan& plan = *answer.plan;
    const int64_t sum = plan.peak_bytes;
    plan.peak_bytes = formulation::FindPeakBytes(measured, plan.choice);
    std::optional<search::Plan>& fastest = best.answer.plan;
    const bool fits = !limit.has_value() || plan.peak_bytes <= *limit;
    const problem::Picoseconds bound =
        std::min(best.answer.lower_bound, answer.lower_bound);
    if (fits && (!fastest.has_value() || plan.time < fastest->time)) {
      best = {answer, problem.memory_limit_bytes};
    } else if (!fits && !fastest.has_value()) {
      best.answer.least_memory_bytes =
          searches == 1
              ? plan.peak_bytes
              : std::min(plan.peak_bytes, *best.answer.least_memory_bytes);
    }
    best.answer.lower_bound = bound;
    if (!limit.has_value()) break;
    const int64_t next = std::max<int64_t>(0, *limit + (sum - plan.peak_bytes));
    // Only a wider limit has a faster plan, only a narrower one that fits.
    const bool may_gain =
        fits ? next > *problem.memory_limit_bytes
             : !fastest.has_value() && next < *problem.memory_limit_bytes;
    if (!may_gain || searches == kMaxSearches || options.deadline.HasPassed()) {
      break;
    }
    problem.memory_limit_bytes = next;
    ASSIGN_OR_RETURN(answer, search::Solve(problem, options));
  }
  if (best.answer.plan.has_value() || !limit.has_value()) return best;
  // What the gradients of the plans found need is beside their sums.
  problem = CountGradients(measured);
  ASSIGN_OR_RETURN(answer, SearchAtAll(problem, options));
  if (!answer.plan.has_value()) return best;
  search::Plan& least = *answer.plan;
  least.peak_bytes = formulation::FindPeakBytes(measured, least.choice);
  best.answer.least_memory_bytes =
      std::min(least.peak_bytes,
               best.answer.least_memory_bytes.value_or(least.peak_bytes));
  if (least.peak_bytes > *limit) return best;
  // The plan's own sum may exceed all limits searched, whose bounds do not
  // cover it then.
  problem = measured.problem;
  ASSIGN_OR_RETURN(const problem::Evaluation sum,
                   problem::Evaluate(problem, least.choice));
  problem.memory_limit_bytes = std::max(*limit, sum.peak_bytes);
  ASSIGN_OR_RETURN(const search::Answer wider, search::Solve(problem, options));
  best.answer.plan = least;
  best.answer.lower_bound =
      std::min({best.answer.lower_bound, wider.lower_bound, least.time});
  best.sum_limit_bytes = problem.memory_limit_bytes;
  return best;
}

}  // namespace meshwright::planning
