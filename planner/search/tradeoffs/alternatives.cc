#include "planner/search/tradeoffs/alternatives.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "planner/problem/allowed.h"
#include "planner/problem/uncertainty.h"
#include "planner/problem/validate.h"

namespace meshwright::search {
namespace {

int GetKind(const ChoiceKinds& alike, int type, int config) {
  return alike.empty() ? config : alike[type][config];
}

std::vector<Alternative> ListChoices(const problem::PlanProblem& problem,
                                     const problem::Choice& choice,
                                     const ChoiceKinds& alike) {
  std::vector<Alternative> found;
  for (int n = 0; n < static_cast<int>(choice.size()); ++n) {
    const int type = problem.nodes[n].type;
    std::optional<int> last;  // runs of equal copies are long
    for (int config : choice[n]) {
      if (config == last) continue;
      last = config;
      auto it = std::find_if(found.begin(), found.end(), [&](const auto& a) {
        return a.type == type &&
               GetKind(alike, type, a.config) == GetKind(alike, type, config);
      });
      if (it == found.end()) {
        it = found.insert(found.end(), {.type = type, .config = config});
      }
      if (it->nodes.empty() || it->nodes.back() != n) it->nodes.push_back(n);
    }
  }
  return found;
}

}  // namespace

absl::StatusOr<std::vector<Alternative>> FindAlternatives(
    const problem::PlanProblem& problem, const problem::Choice& choice,
    const Options& options, const ChoiceKinds& alike) {
  RETURN_IF_ERROR(problem::Validate(problem));
  RETURN_IF_ERROR(problem::ValidateChoice(problem, choice));
  std::vector<Alternative> alternatives = ListChoices(problem, choice, alike);
  for (Alternative& it : alternatives) {
    problem::PlanProblem without = problem;
    bool is_left = true;
    for (int node : it.nodes) {
      const int count = static_cast<int>(problem.types[it.type].configs.size());
      for (int config = 0; config < count; ++config) {
        if (GetKind(alike, it.type, config) ==
            GetKind(alike, it.type, it.config)) {
          without.forbidden[node].push_back(config);
        }
      }
      is_left = is_left && !problem::ListAllowedConfigs(without, node).empty();
    }
    if (!is_left) continue;
    ASSIGN_OR_RETURN(Answer answer, Solve(without, options));
    it.next = std::move(answer.plan);
    it.lower_bound = answer.lower_bound;
    if (!it.next.has_value()) continue;
    ASSIGN_OR_RETURN(it.noise, problem::EstimateNoiseBetween(problem, choice,
                                                             it.next->choice));
  }
  return alternatives;
}

}  // namespace meshwright::search
