#include "planner/checkpoint/testing/two_stage.h"

#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace meshwright::checkpoint {
namespace {

absl::Status Check(int64_t budget, const SweepOptions& options) {
  if (budget <= 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "budget is ", budget, "; give the bytes that the device has"));
  }
  if (!(options.expansion > 0) || std::isinf(options.expansion)) {
    return absl::InvalidArgumentError(
        absl::StrCat("expansion is ", options.expansion,
                     "; each budget is larger than the one before"));
  }
  if (options.budgets < 1 || options.budgets > 64) {
    return absl::InvalidArgumentError(
        absl::StrCat("budgets is ", options.budgets, "; give 1 to 64"));
  }
  return {};
}

int64_t Expanded(int64_t budget, double expansion, int n) {
  const double bytes = static_cast<double>(budget) * std::pow(1 + expansion, n);
  if (bytes >= 9e18) return std::numeric_limits<int64_t>::max();
  return n == 0 ? budget : static_cast<int64_t>(bytes);
}

}  // namespace

absl::StatusOr<Sweep> SweepTwoStage(int64_t budget_bytes,
                                    const IntraOpSolver& intra_op,
                                    const SweepOptions& options) {
  RETURN_IF_ERROR(Check(budget_bytes, options));
  Sweep sweep;
  std::map<int64_t, int> met;  // plan id → attempt
  for (int n = 0; n < options.budgets; ++n) {
    // The first is always made, so that there is an answer.
    if (n > 0 && options.checkpoint.deadline.HasPassed()) break;
    Attempt attempt;
    attempt.intra_op_budget_bytes =
        Expanded(budget_bytes, options.expansion, n);
    ASSIGN_OR_RETURN(const std::optional<IntraOpPlan> plan,
                     intra_op(attempt.intra_op_budget_bytes));
    if (plan.has_value()) {
      if (plan->persistent_bytes < 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("persistent_bytes of plan ", plan->id,
                         " is negative: ", plan->persistent_bytes));
      }
      attempt.plan_id = plan->id;
      const int64_t left = budget_bytes - plan->persistent_bytes;
      const auto [found, is_new] = met.try_emplace(plan->id, n);
      if (!is_new) {
        attempt.answer = sweep.attempts[found->second].answer;
      } else if (left > 0) {
        ASSIGN_OR_RETURN(attempt.answer,
                         Solve(plan->chain, left, options.checkpoint));
      }
    }
    sweep.attempts.push_back(std::move(attempt));
    const auto& answer = sweep.attempts.back().answer;
    if (!answer.has_value() || !answer->plan.has_value()) continue;
    if (!sweep.best.has_value() ||
        answer->plan->makespan <
            sweep.attempts[*sweep.best].answer->plan->makespan) {
      sweep.best = n;
    }
  }
  return sweep;
}

}  // namespace meshwright::checkpoint
