#include "coordinator/planning/score.h"

#include <algorithm>

#include "base/status_macros.h"
#include "coordinator/problem/peak_timeline.h"
#include "planner/problem/evaluate.h"
#include "planner/problem/uncertainty.h"

namespace meshwright::planning {
namespace {

using problem::ToSeconds;
using segmenter::SegmentIndex;
using segmenter::SegmentTypeId;

// A figure of a configuration's programs, as often as each of them counts.
template <typename Figure>
double Weighted(const MeasuredStep& step,
                const space::Configuration& configuration,
                const Figure& figure) {
  const auto of = [&](space::ProgramId program) {
    const auto row = step.results.find(step.space.programs[program].key());
    if (row == step.results.end()) return 0.0;
    return static_cast<double>(figure(row->second.measurement())) * 1e-9;
  };
  if (!configuration.program.has_value()) return 0;
  double sum = configuration.weight * of(*configuration.program);
  for (const space::Correction& correction : configuration.corrections) {
    sum += correction.weight * of(correction.program);
  }
  return sum;
}

std::vector<SegmentCost> ScoreSegments(const MeasuredStep& step,
                                       const space::SegmentChoice& choice,
                                       const problem::Choice& nodes) {
  std::vector<SegmentCost> costs(choice.size());
  for (size_t n = 0; n < nodes.size(); ++n) {
    const formulation::SegmentRun& run = step.measured.runs[n];
    const auto& configs =
        step.measured.problem.types[step.measured.problem.nodes[n].type]
            .configs;
    for (int copy = 0; copy < run.count; ++copy) {
      const SegmentIndex segment(run.first_segment + copy);
      const SegmentTypeId type = step.analysis.type_of_segment[segment];
      costs[segment] =
          ScoreSegment(step, type, choice[segment], configs[nodes[n][copy]]);
    }
  }
  const std::vector<double> resharding =
      SumReshardingSeconds(step.measured.problem, nodes);
  for (size_t s = 0; s < costs.size(); ++s) {
    costs[s].resharding_seconds = resharding[s];
  }
  return costs;
}

}  // namespace

std::vector<double> SumReshardingSeconds(const problem::PlanProblem& problem,
                                         const problem::Choice& choice) {
  std::vector<size_t> first = {0};  // copy of every node
  for (const auto& copies : choice) {
    first.push_back(first.back() + copies.size());
  }
  std::vector<double> seconds(first.back(), 0);
  const auto add = [&](int table, int from, int to, size_t copy) {
    const auto& entry = problem.tables[table].at(from, to);
    seconds[copy] += ToSeconds(entry.value_or(problem::Picoseconds(0)));
  };
  for (const problem::SelfEdge& edge : problem.self_edges) {
    for (size_t n = 0; n < choice.size(); ++n) {
      if (problem.nodes[n].type != edge.type) continue;
      for (size_t copy = 1; copy < choice[n].size(); ++copy) {
        add(edge.table, choice[n][copy - 1], choice[n][copy], first[n] + copy);
      }
    }
  }
  // An edge leads from the earlier node to the later.
  for (const problem::Edge& edge : problem.edges) {
    add(edge.table, choice[edge.from].back(), choice[edge.to].front(),
        first[edge.to]);
  }
  return seconds;
}

SegmentCost ScoreSegment(const MeasuredStep& step, SegmentTypeId type,
                         int configuration, const problem::Config& config) {
  const space::Configuration& it =
      step.space.types[type].configurations[configuration];
  SegmentCost cost;
  cost.seconds = ToSeconds(config.time);
  cost.communication_seconds = std::clamp(
      Weighted(step, it,
               [](const auto& row) { return row.communication_ns(); }),
      0.0, cost.seconds);
  cost.median_seconds = std::max(
      cost.seconds,
      Weighted(step, it, [](const auto& row) { return row.median_ns(); }));
  cost.memory_bytes = config.persistent_bytes + config.saved_bytes;
  return cost;
}

absl::StatusOr<Score> ScoreChoice(const MeasuredStep& step,
                                  const space::SegmentChoice& choice) {
  const problem::PlanProblem& problem = step.measured.problem;
  ASSIGN_OR_RETURN(const problem::Choice nodes,
                   formulation::FromSegments(step.analysis, step.space,
                                             step.measured, choice));
  ASSIGN_OR_RETURN(const problem::Evaluation evaluation,
                   problem::Evaluate(problem, nodes));
  ASSIGN_OR_RETURN(const problem::NoiseInterval noise,
                   problem::EstimateNoise(problem, nodes));
  Score score;
  score.seconds = ToSeconds(evaluation.time);
  score.resharding_seconds = ToSeconds(evaluation.resharding_time);
  score.low_seconds = ToSeconds(evaluation.time - noise.below);
  score.high_seconds = ToSeconds(evaluation.time + noise.above);
  score.peak_bytes = formulation::FindPeakBytes(step.measured, nodes);
  score.segments = ScoreSegments(step, choice, nodes);
  score.median_seconds = score.resharding_seconds;
  for (const SegmentCost& it : score.segments) {
    score.communication_seconds += it.communication_seconds;
    score.median_seconds += it.median_seconds;
  }
  return score;
}

}  // namespace meshwright::planning
