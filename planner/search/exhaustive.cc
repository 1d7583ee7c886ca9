#include "planner/search/exhaustive.h"

#include <algorithm>

#include "planner/problem/allowed.h"
#include "planner/problem/evaluate.h"

namespace meshwright::search {
namespace {

using problem::Choice;
using problem::PlanProblem;

// The plan after `choice` in lexicographic order; false after the last.
bool Next(const PlanProblem& problem, Choice& choice) {
  for (size_t n = choice.size(); n > 0; --n) {
    const problem::Node& node = problem.nodes[n - 1];
    const int configs = problem.types[node.type].configs.size();
    std::vector<int>& copies = choice[n - 1];
    for (size_t i = copies.size(); i > 0; --i) {
      if (node.tied) i = 1;
      const bool carries = ++copies[i - 1] == configs;
      if (carries) copies[i - 1] = 0;
      if (node.tied) std::fill(copies.begin(), copies.end(), copies[0]);
      if (!carries) return true;
    }
  }
  return false;
}

}  // namespace

Exhaustive SolveExhaustively(const PlanProblem& problem) {
  Choice choice;
  for (const problem::Node& node : problem.nodes) {
    choice.emplace_back(node.repeat, 0);
  }
  const std::optional<int64_t> limit = problem::UsableBytes(problem);
  Exhaustive best;
  do {
    const auto evaluation = problem::Evaluate(problem, choice);
    if (!evaluation.ok()) continue;  // forbidden
    const int64_t peak = evaluation->peak_bytes;
    best.least_memory_bytes =
        std::min(best.least_memory_bytes.value_or(peak), peak);
    if (limit.has_value() && peak > *limit) {
      continue;
    }
    if (!best.choice.has_value() || evaluation->time < best.time) {
      best.choice = choice;
      best.time = evaluation->time;
    }
  } while (Next(problem, choice));
  return best;
}

}  // namespace meshwright::search
