#include "planner/layout/greedy_path.h"

#include <algorithm>

#include "planner/layout/one_step.h"

namespace meshwright::layout {
namespace {

constexpr int64_t kGatherCost = 20;
constexpr int64_t kSliceCost = 5;
constexpr int64_t kStepPenalty = 6;

int64_t DimDifference(const std::vector<int>& from,
                      const std::vector<int>& to) {
  const auto [end, same] =
      std::mismatch(from.begin(), from.end(), to.begin(), to.end());
  const int64_t gathers = from.end() - end;
  const int64_t slices = to.end() - same;
  if (gathers + slices == 0) return 0;
  return gathers * kGatherCost + slices * kSliceCost +
         (gathers + slices - 1) * kStepPenalty;
}

}  // namespace

int64_t CountSpecDifference(const Spec& source, const Spec& target) {
  int64_t difference = 0;
  for (size_t d = 0; d < source.size(); ++d) {
    difference += DimDifference(source[d], target[d]);
  }
  return difference;
}

std::optional<Path> FindGreedyPath(const LayoutProblem& problem) {
  const Tiling tiling(problem);
  OneStep one_step(problem, tiling);
  std::vector<PackedStep> steps;
  PackedSpec at = tiling.Pack(problem.source);
  int64_t difference = CountSpecDifference(problem.source, problem.target);
  while (difference > 0) {
    const PackedStep* best = nullptr;
    for (const PackedStep& step : one_step.ListMovesFrom(at)) {
      const int64_t left = CountSpecDifference(
          tiling.Unpack(tiling.FromKey(step.key)), problem.target);
      if (left < difference) {
        difference = left;
        best = &step;
      }
    }
    if (best == nullptr) return std::nullopt;
    steps.push_back(*best);
    at = tiling.FromKey(best->key);
  }
  return MakePath(problem, tiling, steps);
}

}  // namespace meshwright::layout
