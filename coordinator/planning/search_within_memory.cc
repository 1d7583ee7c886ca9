#include "coordinator/planning/search_within_memory.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "coordinator/problem/peak_timeline.h"

namespace meshwright::planning {
namespace {

constexpr int kMaxSearches = 4;

// The plan of least memory where the sum of no plan is within the limit.
absl::StatusOr<search::Answer> SearchAtAll(problem::PlanProblem& problem,
                                           const search::Options& options) {
  ASSIGN_OR_RETURN(search::Answer answer, search::Solve(problem, options));
  if (answer.plan.has_value() || !answer.least_memory_bytes.has_value()) {
    return answer;
  }
  problem.memory_limit_bytes = answer.least_memory_bytes;
  return search::Solve(problem, options);
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
  return best;
}

}  // namespace meshwright::planning
