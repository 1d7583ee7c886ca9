#include "planner/search/elimination/ilp_fallback.h"

#include <utility>

#include "planner/ilp/solve.h"

namespace meshwright::search {
namespace {

// A solver cannot be stopped while it makes a program smaller.
constexpr double kMinSeconds = 0.5;

int64_t PairEntries(const Model& model) {
  int64_t entries = 0;
  for (const Model::Join& join : model.joins) {
    entries += static_cast<int64_t>(model.size(join.a)) * model.size(join.b);
  }
  return entries;
}

ilp::MultipleChoice ToIlp(const Model& model,
                          std::optional<int64_t> limit_bytes) {
  ilp::MultipleChoice problem;
  for (size_t v = 0; v < model.variables.size(); ++v) {
    problem.costs.push_back(model.domain(v).time);
  }
  for (const Model::Join& join : model.joins) {
    ilp::Pair pair{.a = join.a, .b = join.b};
    for (const Cost cost : model.matrices[join.matrix].entries) {
      pair.costs.push_back(cost < kNever ? std::optional(cost) : std::nullopt);
    }
    problem.pairs.push_back(std::move(pair));
  }
  if (!limit_bytes.has_value()) return problem;
  ilp::Budget budget{.limit = *limit_bytes};
  for (size_t v = 0; v < model.variables.size(); ++v) {
    budget.weights.push_back(model.domain(v).bytes);
    budget.transients.push_back(model.domain(v).transient);
  }
  problem.budgets.push_back(std::move(budget));
  return problem;
}

}  // namespace

std::optional<IlpAnswer> SolveByIlp(const Model& model,
                                    std::optional<int64_t> limit_bytes,
                                    const std::vector<int>& known,
                                    const WorkBudget& work,
                                    const base::Deadline& deadline) {
  if (PairEntries(model) > work.ilp_entries || work.ilp_nodes == 0) {
    return std::nullopt;
  }
  if (deadline.RemainingSeconds() < kMinSeconds) return std::nullopt;
  const auto solution = ilp::Solve(
      ToIlp(model, limit_bytes),
      {.deadline = deadline, .max_nodes = work.ilp_nodes, .known = known});
  if (!solution.ok()) return std::nullopt;
  IlpAnswer answer{.bound = Clamp(model.base + solution->bound)};
  if (solution->verdict == ilp::Verdict::kInfeasible) answer.bound = kNever;
  if (solution->choice.has_value()) answer.places = *solution->choice;
  return answer;
}

}  // namespace meshwright::search
