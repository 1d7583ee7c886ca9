#include "planner/problem/allowed.h"

#include <algorithm>
#include <cmath>

namespace meshwright::problem {

bool IsRestricted(const PlanProblem& problem, int node) {
  return problem.fixed.contains(node) || problem.forbidden.contains(node);
}

std::vector<int> ListAllowedConfigs(const PlanProblem& problem, int node) {
  const auto fixed = problem.fixed.find(node);
  const auto forbidden = problem.forbidden.find(node);
  const auto names = [](const std::vector<int>& list, int config) {
    return std::find(list.begin(), list.end(), config) != list.end();
  };
  std::vector<int> allowed;
  const int configs =
      static_cast<int>(problem.types[problem.nodes[node].type].configs.size());
  for (int config = 0; config < configs; ++config) {
    if (fixed != problem.fixed.end() && !names(fixed->second, config)) continue;
    if (forbidden != problem.forbidden.end() &&
        names(forbidden->second, config)) {
      continue;
    }
    allowed.push_back(config);
  }
  return allowed;
}

std::optional<int64_t> ComputeUsableBytes(const PlanProblem& problem) {
  if (!problem.memory_limit_bytes.has_value()) return std::nullopt;
  constexpr int64_t kWhole = 100'000'000;  // in millionths of a percent
  const int64_t headroom = std::llround(problem.headroom_percent * 1e6);
  return static_cast<int64_t>(
      static_cast<__int128>(*problem.memory_limit_bytes) * (kWhole - headroom) /
      kWhole);
}

}  // namespace meshwright::problem
