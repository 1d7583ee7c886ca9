#include "coordinator/selection/memory_multiplier.h"

#include <algorithm>
#include <cmath>

#include "base/status_macros.h"
#include "planner/problem/evaluate.h"

namespace meshwright::selection {
namespace {

constexpr int kBisections = 12;
constexpr double kFirstMultiplier = 1e-3;  // a microsecond for a gigabyte
// All bytes of a plan at the highest multiplier, in picoseconds: about a day.
constexpr double kMaxCost = 1e17;
constexpr int64_t kNoPlan = INT64_MAX;

double MaxBytes(const problem::PlanProblem& problem) {
  double bytes = 1;
  for (const problem::Node& node : problem.nodes) {
    int64_t largest = 0;
    for (const problem::Config& it : problem.types[node.type].configs) {
      largest = std::max(largest, it.persistent_bytes + it.saved_bytes);
    }
    bytes += static_cast<double>(largest) * static_cast<double>(node.repeat);
  }
  return bytes;
}

// Bytes of the plan of least time + multiplier * bytes; kNoPlan where none is
// known.
absl::StatusOr<int64_t> PeakAt(const problem::PlanProblem& problem,
                               double multiplier,
                               const search::Options& options) {
  problem::PlanProblem weighted = problem;
  for (problem::NodeType& type : weighted.types) {
    for (problem::Config& it : type.configs) {
      it.time += problem::Picoseconds(
          std::llround(multiplier * static_cast<double>(it.persistent_bytes +
                                                        it.saved_bytes)));
    }
  }
  ASSIGN_OR_RETURN(const search::Answer answer,
                   search::TrySolve(weighted, options));
  if (!answer.plan.has_value()) return kNoPlan;
  ASSIGN_OR_RETURN(const problem::Evaluation evaluation,
                   problem::Evaluate(problem, answer.plan->choice));
  return evaluation.peak_bytes;
}

}  // namespace

absl::StatusOr<double> FindMemoryMultiplier(const problem::PlanProblem& problem,
                                            int64_t limit_bytes,
                                            const search::Options& options) {
  ASSIGN_OR_RETURN(int64_t peak, PeakAt(problem, 0, options));
  if (peak <= limit_bytes) return 0.0;
  const double highest = kMaxCost / MaxBytes(problem);
  // Pairs that tables forbid leave none at any multiplier.
  if (peak == kNoPlan) return highest;
  double low = 0;
  double high = std::min(kFirstMultiplier, highest);
  while (true) {
    ASSIGN_OR_RETURN(peak, PeakAt(problem, high, options));
    if (peak <= limit_bytes) break;
    if (high >= highest || options.deadline.HasPassed()) return high;
    low = high;
    high = std::min(high * 2, highest);
  }
  for (int i = 0; i < kBisections && !options.deadline.HasPassed(); ++i) {
    const double middle = (low + high) / 2;
    ASSIGN_OR_RETURN(peak, PeakAt(problem, middle, options));
    (peak <= limit_bytes ? high : low) = middle;
  }
  return high;
}

}  // namespace meshwright::selection
