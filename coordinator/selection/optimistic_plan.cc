#include "coordinator/selection/optimistic_plan.h"

#include <algorithm>
#include <cmath>

#include "base/status_macros.h"

namespace meshwright::selection {
namespace {

// More than any plan takes: an hour.
constexpr problem::Picoseconds kUnknownTime{int64_t{3600} * 1000000000000};

}  // namespace

absl::StatusOr<std::set<estimation::ConfigurationRef>> FindOptimisticPlan(
    problem::PlanProblem problem, const Standings& standings,
    const std::vector<double>& margins, int64_t limit_bytes,
    const search::Options& options) {
  for (size_t t = 0; t < problem.types.size(); ++t) {
    // Estimates may be off by more than themselves.
    const double low = std::max(0.0, 1 - margins[t]);
    for (size_t c = 0; c < problem.types[t].configs.size(); ++c) {
      if (standings[t][c] == Standing::kMeasured) continue;
      problem::Picoseconds& time = problem.types[t].configs[c].time;
      problem.types[t].configs[c].noise = {};
      if (standings[t][c] == Standing::kUnknown) {
        time = kUnknownTime;
        continue;
      }
      time = problem::Picoseconds(
          std::llround(static_cast<double>(time.count()) * low));
    }
  }
  problem.memory_limit_bytes = limit_bytes;
  ASSIGN_OR_RETURN(const search::Answer answer,
                   search::TrySolve(problem, options));
  std::set<estimation::ConfigurationRef> optimistic;
  if (!answer.plan.has_value()) return optimistic;
  for (size_t n = 0; n < problem.nodes.size(); ++n) {
    const segmenter::SegmentTypeId type(problem.nodes[n].type);
    for (const int c : answer.plan->choice[n]) {
      if (standings[type][c] == Standing::kEstimated)
        optimistic.insert({type, c});
    }
  }
  return optimistic;
}

}  // namespace meshwright::selection
