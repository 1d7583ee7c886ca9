#include "planner/ilp/multiple_choice.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace meshwright::ilp {
namespace {

using Wide = __int128;

absl::Status Wrong(const std::string& what) {
  return absl::InvalidArgumentError(what);
}

// Adds the largest figure of every group to `sum`.
absl::Status CheckFigures(const MultipleChoice& problem, const Figures& figures,
                          const std::string& name, Wide& sum) {
  if (figures.size() != problem.costs.size()) {
    return Wrong(absl::StrCat(name, " has ", figures.size(), " groups, not ",
                              problem.costs.size()));
  }
  for (size_t g = 0; g < figures.size(); ++g) {
    if (figures[g].size() != problem.costs[g].size()) {
      return Wrong(absl::StrCat(name, "[", g, "] has ", figures[g].size(),
                                " options, not ", problem.costs[g].size()));
    }
    int64_t most = 0;
    for (size_t o = 0; o < figures[g].size(); ++o) {
      if (figures[g][o] < 0) {
        return Wrong(absl::StrCat(name, "[", g, "][", o,
                                  "] is negative: ", figures[g][o]));
      }
      most = std::max(most, figures[g][o]);
    }
    sum += most;
  }
  return {};
}

absl::Status CheckPair(const MultipleChoice& problem, size_t p, Wide& sum) {
  const Pair& pair = problem.pairs[p];
  for (const int group : {pair.a, pair.b}) {
    if (group < 0 || group >= problem.groups()) {
      return Wrong(absl::StrCat("pairs[", p, "] names group ", group,
                                ", of which there are ", problem.groups()));
    }
  }
  if (pair.a == pair.b) {
    return Wrong(absl::StrCat("pairs[", p, "] joins group ", pair.a,
                              " with itself; add it to its costs"));
  }
  const size_t entries = static_cast<size_t>(problem.options(pair.a)) *
                         static_cast<size_t>(problem.options(pair.b));
  if (pair.costs.size() != entries) {
    return Wrong(absl::StrCat("pairs[", p, "].costs has ", pair.costs.size(),
                              " entries, not ", entries));
  }
  int64_t most = 0;
  for (size_t i = 0; i < entries; ++i) {
    const int64_t cost = pair.costs[i].value_or(0);
    if (cost < 0) {
      return Wrong(
          absl::StrCat("pairs[", p, "].costs[", i, "] is negative: ", cost));
    }
    most = std::max(most, cost);
  }
  sum += most;
  return {};
}

absl::Status CheckSum(const std::string& name, Wide sum) {
  if (sum <= kMaxSum) return {};
  return Wrong(absl::StrCat(name, " may add up to more than ", kMaxSum,
                            "; give them in a coarser unit"));
}

absl::Status CheckBudget(const MultipleChoice& problem, size_t b) {
  const Budget& budget = problem.budgets[b];
  const std::string name = absl::StrCat("budgets[", b, "]");
  if (budget.limit < 0) {
    return Wrong(absl::StrCat(name, ".limit is negative: ", budget.limit));
  }
  Wide sum = 0;
  const std::string weights = absl::StrCat(name, ".weights");
  RETURN_IF_ERROR(CheckFigures(problem, budget.weights, weights, sum));
  if (!budget.transients.empty()) {
    const std::string transients = absl::StrCat(name, ".transients");
    RETURN_IF_ERROR(CheckFigures(problem, budget.transients, transients, sum));
  }
  return CheckSum(weights, sum);
}

}  // namespace

absl::Status Validate(const MultipleChoice& problem) {
  Wide sum = 0;
  RETURN_IF_ERROR(CheckFigures(problem, problem.costs, "costs", sum));
  for (int g = 0; g < problem.groups(); ++g) {
    if (problem.options(g) > 0) continue;
    return Wrong(absl::StrCat("costs[", g, "] is empty; give it an option"));
  }
  for (size_t p = 0; p < problem.pairs.size(); ++p) {
    RETURN_IF_ERROR(CheckPair(problem, p, sum));
  }
  RETURN_IF_ERROR(CheckSum("costs", sum));
  for (size_t b = 0; b < problem.budgets.size(); ++b) {
    RETURN_IF_ERROR(CheckBudget(problem, b));
  }
  return {};
}

absl::Status ValidateChoice(const MultipleChoice& problem,
                            const std::vector<int>& choice) {
  if (choice.size() != problem.costs.size()) {
    return Wrong(absl::StrCat("the choice has ", choice.size(), " groups, not ",
                              problem.costs.size()));
  }
  for (int g = 0; g < problem.groups(); ++g) {
    if (choice[g] >= 0 && choice[g] < problem.options(g)) continue;
    return Wrong(absl::StrCat("the choice takes option ", choice[g],
                              " of group ", g, ", which has ",
                              problem.options(g)));
  }
  return {};
}

std::optional<int64_t> ComputeCost(const MultipleChoice& problem,
                                   const std::vector<int>& choice) {
  int64_t cost = 0;
  for (int g = 0; g < problem.groups(); ++g) {
    cost += problem.costs[g][choice[g]];
  }
  for (const Pair& pair : problem.pairs) {
    const auto& entry = problem.at(pair, choice[pair.a], choice[pair.b]);
    if (!entry.has_value()) return std::nullopt;
    cost += *entry;
  }
  for (const Budget& budget : problem.budgets) {
    int64_t weight = 0;
    int64_t transient = 0;
    for (int g = 0; g < problem.groups(); ++g) {
      weight += budget.weights[g][choice[g]];
      if (budget.transients.empty()) continue;
      transient = std::max(transient, budget.transients[g][choice[g]]);
    }
    if (weight + transient > budget.limit) return std::nullopt;
  }
  return cost;
}

}  // namespace meshwright::ilp
