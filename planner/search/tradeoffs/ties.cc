#include "planner/search/tradeoffs/ties.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "base/status_macros.h"
#include "planner/problem/evaluate.h"
#include "planner/problem/uncertainty.h"
#include "planner/search/tradeoffs/uniform.h"

namespace meshwright::search {
namespace {

using problem::Picoseconds;

class TieBreaker {
 public:
  TieBreaker(Uniform uniform, Picoseconds longest, const Options& options)
      : uniform_(std::move(uniform)), longest_(longest), options_(options) {}

  // The first plan of the order that ties; nothing where none does.
  std::optional<problem::Choice> Run() {
    if (!Ties()) return std::nullopt;
    std::vector<int> order(uniform_.types.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return uniform_.copies[a] > uniform_.copies[b];
    });
    for (int node : order) Fix(node);
    return choice_;
  }

 private:
  // Whether a plan of what is left ties, as far as the search can tell; choice_
  // is then the fastest of these.
  bool Ties() {
    const absl::StatusOr<Answer> answer = Solve(uniform_.problem, options_);
    if (!answer.ok() || !answer->plan.has_value() ||
        answer->plan->time > longest_) {
      return false;
    }
    choice_ = answer->plan->choice;
    return true;
  }

  void Fix(int node) {
    const std::vector<int> allowed = uniform_.problem.fixed[node];
    const auto& configs = uniform_.problem.types[node].configs;
    for (int config : allowed) {
      // The last of choice_ that tied has what the rest needs.
      if (config == choice_[node][0]) break;
      if (configs[config].time > longest_) continue;
      uniform_.problem.fixed[node] = {config};
      if (Ties()) return;
    }
    uniform_.problem.fixed[node] = {choice_[node][0]};
  }

  Uniform uniform_;
  const Picoseconds longest_;
  const Options& options_;
  problem::Choice choice_;
};

}  // namespace

absl::StatusOr<Plan> BreakTies(const problem::PlanProblem& problem,
                               const Plan& fastest, double max_loss,
                               const Options& options) {
  ASSIGN_OR_RETURN(const problem::NoiseInterval noise,
                   problem::EstimateNoise(problem, fastest.choice));
  if (noise.above.count() == 0) return fastest;
  std::optional<Uniform> uniform = MakeUniform(problem);
  if (!uniform.has_value()) return fastest;
  const Uniform kept = *uniform;
  const Picoseconds loss(
      std::llround(max_loss * static_cast<double>(fastest.time.count())));
  const std::optional<problem::Choice> choice =
      TieBreaker(*std::move(uniform),
                 fastest.time + std::min(noise.above, loss), options)
          .Run();
  if (!choice.has_value()) return fastest;
  Plan chosen{.choice = FromUniform(problem, kept, *choice)};
  ASSIGN_OR_RETURN(const problem::Evaluation evaluation,
                   problem::Evaluate(problem, chosen.choice));
  chosen.time = evaluation.time;
  chosen.peak_bytes = evaluation.peak_bytes;
  return chosen;
}

}  // namespace meshwright::search
