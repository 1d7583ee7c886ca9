#include "coordinator/planning/choose_plan.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "coordinator/export/activations.h"
#include "coordinator/export/plan_choice.h"
#include "coordinator/export/whole_model.h"
#include "coordinator/planning/plan_metadata.h"
#include "coordinator/planning/score.h"
#include "coordinator/planning/search_within_memory.h"
#include "coordinator/planning/verdicts.h"
#include "coordinator/problem/peak_timeline.h"
#include "planner/problem/uncertainty.h"
#include "planner/search/search.h"
#include "planner/search/tradeoffs/ties.h"

namespace meshwright::planning {
namespace {

bool IsEstimated(const MeasuredStep& step,
                 const space::Configuration& configuration) {
  if (!configuration.program.has_value()) return false;
  const auto row =
      step.results.find(step.space.programs[*configuration.program].key());
  return row != step.results.end() &&
         row->second.measurement().estimate_error_ns() > 0;
}

void FillSegments(const MeasuredStep& step, const space::SegmentChoice& choice,
                  const Score& score, v1::Plan& plan) {
  exporting::DescribeSegments(step.analysis, step.space, choice, &plan);
  for (size_t s = 0; s < choice.size(); ++s) {
    v1::PlanSegment& segment = *plan.mutable_segments(static_cast<int>(s));
    const SegmentCost& cost = score.segments[s];
    segment.set_seconds(cost.seconds);
    segment.set_communication_seconds(cost.communication_seconds);
    segment.set_resharding_seconds(cost.resharding_seconds);
    segment.set_memory_bytes(cost.memory_bytes);
    segment.set_estimated(
        IsEstimated(step, step.space.types[step.analysis.type_of_segment[s]]
                              .configurations[choice[s]]));
  }
}

v1::PlanPrediction Predict(const Score& score) {
  v1::PlanPrediction predicted;
  predicted.set_step_seconds(score.seconds);
  predicted.set_resharding_seconds(score.resharding_seconds);
  predicted.set_peak_bytes(score.peak_bytes);
  predicted.set_communication_seconds(score.communication_seconds +
                                      score.resharding_seconds);
  predicted.set_compute_seconds(score.seconds -
                                predicted.communication_seconds());
  predicted.add_interval_seconds(score.low_seconds);
  predicted.add_interval_seconds(
      std::max(score.high_seconds, score.median_seconds));
  return predicted;
}

// The plan that ties, if it fits as the fastest does.
absl::StatusOr<search::Plan> BreakTiesWithin(
    const formulation::MeasuredProblem& measured, const WithinMemory& found) {
  const search::Plan& fastest = *found.answer.plan;
  problem::PlanProblem problem = measured.problem;
  const std::optional<int64_t> limit = problem.memory_limit_bytes;
  problem.memory_limit_bytes = found.sum_limit_bytes;
  ASSIGN_OR_RETURN(search::Plan plan,
                   search::BreakTies(problem, fastest, kMaxTieLoss));
  plan.peak_bytes = formulation::FindPeakBytes(measured, plan.choice);
  const bool fits = !limit.has_value() || plan.peak_bytes <= *limit;
  return fits ? plan : fastest;
}

absl::StatusOr<v1::PlanTie> TieWith(const MeasuredStep& step,
                                    const search::Plan& fastest) {
  ASSIGN_OR_RETURN(
      const problem::NoiseInterval noise,
      problem::EstimateNoise(step.measured.problem, fastest.choice));
  v1::PlanTie tie;
  tie.set_fastest_seconds(problem::ToSeconds(fastest.time));
  tie.set_noise_seconds(problem::ToSeconds(noise.above));
  return tie;
}

v1::Plan BeginMeasuredPlan(const v1::PlanRequest& request,
                           const MeasuredStep& step) {
  v1::Plan plan = BeginPlan(request, step.space.context.mesh);
  SetDevice(step.device, plan);
  for (const std::string& note : step.notes) plan.add_notes(note);
  for (const std::string& note : step.verdict_notes) plan.add_notes(note);
  *plan.mutable_programs() = step.programs;
  plan.mutable_excluded()->Assign(step.excluded.begin(), step.excluded.end());
  plan.mutable_not_reached()->Assign(step.not_reached.begin(),
                                     step.not_reached.end());
  plan.mutable_failed()->Assign(step.failed.begin(), step.failed.end());
  plan.mutable_estimates()->Assign(step.estimates.begin(),
                                   step.estimates.end());
  *plan.mutable_seconds() = step.seconds;
  return plan;
}

}  // namespace

absl::StatusOr<v1::Plan> ChoosePlan(const v1::PlanRequest& request,
                                    const MeasuredStep& step,
                                    const search::Options& options) {
  ASSIGN_OR_RETURN(WithinMemory found,
                   SearchWithinMemory(step.measured, options));
  search::Answer& answer = found.answer;
  v1::Plan plan = BeginMeasuredPlan(request, step);
  plan.set_feasible(answer.plan.has_value());
  plan.set_lower_bound_seconds(problem::ToSeconds(answer.lower_bound));
  if (!answer.plan.has_value()) {
    if (answer.least_memory_bytes.has_value()) {
      NoteMinimumMemory(*answer.least_memory_bytes, plan);
    }
    return plan;
  }
  ASSIGN_OR_RETURN(answer.lower_bound,
                   BoundWithNotReached(step, found.sum_limit_bytes,
                                       answer.lower_bound, options));
  plan.set_lower_bound_seconds(problem::ToSeconds(answer.lower_bound));
  const search::Plan fastest = *answer.plan;
  // Errors of estimates are correlated: ties are not known.
  if (step.programs.estimated() == 0) {
    ASSIGN_OR_RETURN(answer.plan, BreakTiesWithin(step.measured, found));
  }
  if (answer.plan->choice != fastest.choice) {
    ASSIGN_OR_RETURN(*plan.mutable_tie(), TieWith(step, fastest));
  }
  plan.set_gap(answer.Gap());
  const space::SegmentChoice choice = formulation::ToSegments(
      step.analysis, step.measured, answer.plan->choice);
  ASSIGN_OR_RETURN(const Score score, ScoreChoice(step, choice));
  *plan.mutable_predicted() = Predict(score);
  FillSegments(step, choice, score, plan);
  exporting::DescribeArguments(step.analysis, step.space, choice, &plan);
  exporting::DescribeActivations(request.hlo_module(), step.analysis,
                                 step.space, choice, &plan);
  return plan;
}

}  // namespace meshwright::planning
