#include "planner/ilp/solve.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/status_macros.h"
#include "planner/ilp/dominance.h"
#include "planner/ilp/highs.h"
#include "planner/ilp/highs_in_child.h"
#include "planner/ilp/linearization.h"

namespace meshwright::ilp {
namespace {

constexpr double kHalfACost = 0.5;

// The options of the undominated problem; empty where one of them went.
std::vector<int> Inside(const Undominated& undominated,
                        const std::vector<int>& known) {
  std::vector<int> inside;
  for (size_t g = 0; g < known.size(); ++g) {
    const std::vector<int>& kept = undominated.kept[g];
    const auto at = std::lower_bound(kept.begin(), kept.end(), known[g]);
    if (at == kept.end() || *at != known[g]) return {};
    inside.push_back(static_cast<int>(at - kept.begin()));
  }
  return inside;
}

// A bound in integers from one in floating point. In any choice as many columns
// are one as there are groups and pairs, and the undominated cost of each may
// be too high by the solver's tolerance; ten times that is allowed for.
int64_t SafeBound(const MultipleChoice& problem, const Linearization& linear,
                  double bound) {
  if (!(bound > 0)) return 0;
  const double ones =
      static_cast<double>(problem.costs.size() + problem.pairs.size() + 1);
  const double safe = bound - ones * kTolerance - bound * 1e-12;
  const double scaled = std::ldexp(safe, linear.cost_shift);
  if (!(scaled > 0)) return 0;
  return static_cast<int64_t>(
      std::ceil(std::min(scaled, static_cast<double>(kMaxSum))));
}

class Solving {
 public:
  Solving(const MultipleChoice& problem, const Options& options)
      : problem_(problem), options_(options) {}

  absl::StatusOr<Solution> Run() {
    if (!options_.known.empty()) Offer(options_.known);
    OfferFirst();
    const Undominated undominated =
        RemoveDominated(problem_, options_.deadline);
    if (!undominated.is_possible) {
      is_infeasible_ = true;
      return Finished();
    }
    solution_.bound = undominated.base;
    if (!undominated.is_whole) return Finished();
    if (undominated.problem.pairs.empty() &&
        undominated.problem.budgets.empty()) {
      Offer(Outside(undominated, Cheapest(undominated.problem)));
    }
    if (!IsProved() && !IsLate()) {
      RETURN_IF_ERROR(RunLinear(undominated));
    }
    return Finished();
  }

 private:
  absl::Status RunLinear(const Undominated& undominated) {
    const Linearization linear =
        Linearize(undominated.problem, options_.deadline);
    if (IsLate()) return {};
    HighsOptions options{
        .deadline = options_.deadline,
        .max_nodes = options_.max_nodes,
        .absolute_gap = std::ldexp(kHalfACost, -linear.cost_shift)};
    const std::vector<int> inside = Inside(undominated, options_.known);
    if (!inside.empty() &&
        ComputeCost(undominated.problem, inside).has_value()) {
      options.start = ToValues(undominated.problem, linear, inside);
    }
    ASSIGN_OR_RETURN(const HighsAnswer answer,
                     RunHighsInChild(linear, options));
    if (answer.values.has_value()) {
      Offer(Outside(undominated,
                    ToChoice(undominated.problem, linear, *answer.values)));
    }
    is_infeasible_ = answer.is_infeasible;
    solution_.bound += SafeBound(undominated.problem, linear, answer.bound);
    return {};
  }

  bool IsLate() const { return options_.deadline.HasPassed(); }

  // Something at once, unless forbidden pairs or budgets stand in its way:
  // group by group what costs least beside those before, and what weighs least.
  void OfferFirst() {
    std::vector<std::vector<int>> pairs_of(problem_.groups());
    for (size_t p = 0; p < problem_.pairs.size(); ++p) {
      const Pair& pair = problem_.pairs[p];
      pairs_of[std::max(pair.a, pair.b)].push_back(static_cast<int>(p));
    }
    // Late, groups are taken for themselves; with pairs again only where that
    // gives nothing.
    for (const bool to_the_end : {false, true}) {
      for (const bool by_weight : {false, true}) {
        if (by_weight && problem_.budgets.empty()) break;
        if (solution_.choice.has_value() && IsLate()) return;
        if (to_the_end && (solution_.choice.has_value() || !IsLate())) return;
        std::vector<int> choice;
        for (int g = 0; g < problem_.groups(); ++g) {
          std::vector<int64_t> costs = problem_.costs[g];
          if (to_the_end || !IsLate()) {
            AddPairs(g, pairs_of[g], choice, costs);
          }
          choice.push_back(BestOption(g, costs, by_weight));
        }
        Offer(std::move(choice));
      }
    }
  }

  int BestOption(int g, const std::vector<int64_t>& costs,
                 bool by_weight) const {
    const auto rank = [&](int option) {
      return std::pair(by_weight ? ComputeWeight(g, option) : 0, costs[option]);
    };
    int best = 0;
    for (int option = 1; option < problem_.options(g); ++option) {
      if (rank(option) < rank(best)) best = option;
    }
    return best;
  }

  // The shares of the budgets that it takes.
  double ComputeWeight(int g, int option) const {
    double weight = 0;
    for (const Budget& budget : problem_.budgets) {
      weight += static_cast<double>(budget.weights[g][option]) /
                static_cast<double>(budget.limit + 1);
    }
    return weight;
  }

  // Adds what the options of `g` cost beside the groups chosen; more than any
  // cost where that is forbidden.
  void AddPairs(int g, const std::vector<int>& pairs,
                const std::vector<int>& choice,
                std::vector<int64_t>& costs) const {
    constexpr int64_t kForbidden = std::numeric_limits<int64_t>::max() / 2;
    for (const int p : pairs) {
      const Pair& pair = problem_.pairs[p];
      for (int option = 0; option < problem_.options(g); ++option) {
        const auto& entry = pair.a == g
                                ? problem_.at(pair, option, choice[pair.b])
                                : problem_.at(pair, choice[pair.a], option);
        int64_t& cost = costs[option];
        cost = std::min(kForbidden, cost + entry.value_or(kForbidden));
      }
    }
  }

  static std::vector<int> Cheapest(const MultipleChoice& problem) {
    std::vector<int> choice;
    for (const std::vector<int64_t>& costs : problem.costs) {
      choice.push_back(static_cast<int>(
          std::min_element(costs.begin(), costs.end()) - costs.begin()));
    }
    return choice;
  }

  static std::vector<int> Outside(const Undominated& undominated,
                                  std::vector<int> choice) {
    for (size_t g = 0; g < choice.size(); ++g) {
      choice[g] = undominated.kept[g][choice[g]];
    }
    return choice;
  }

  void Offer(std::vector<int> choice) {
    const std::optional<int64_t> cost = ComputeCost(problem_, choice);
    if (!cost.has_value()) return;
    if (solution_.choice.has_value() && *cost >= solution_.cost) return;
    solution_.cost = *cost;
    solution_.choice = std::move(choice);
  }

  bool IsProved() const {
    return solution_.choice.has_value() && solution_.bound >= solution_.cost;
  }

  Solution Finished() {
    if (solution_.choice.has_value()) {
      solution_.bound = std::min(solution_.bound, solution_.cost);
    }
    if (IsProved()) {
      solution_.verdict = Verdict::kOptimal;
    } else if (is_infeasible_ && !solution_.choice.has_value()) {
      solution_.verdict = Verdict::kInfeasible;
    }
    return std::move(solution_);
  }

  const MultipleChoice& problem_;
  const Options& options_;
  Solution solution_;
  bool is_infeasible_ = false;
};

}  // namespace

absl::StatusOr<Solution> Solve(const MultipleChoice& problem,
                               const Options& options) {
  RETURN_IF_ERROR(Validate(problem));
  if (!options.known.empty()) {
    RETURN_IF_ERROR(ValidateChoice(problem, options.known));
  }
  return Solving(problem, options).Run();
}

}  // namespace meshwright::ilp
