#include "coordinator/explain/explain_choices.h"

#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "base/status_macros.h"
#include "coordinator/planning/score.h"
#include "planner/search/tradeoffs/alternatives.h"

namespace meshwright::explain {
namespace {

using problem::ToSeconds;
using segmenter::SegmentTypeId;
using space::SegmentChoice;

absl::StatusOr<v1::PlanAlternative> Compare(
    const planning::MeasuredStep& step, const SegmentChoice& choice,
    const planning::Score& own, const search::Alternative& alternative) {
  const SegmentChoice other = formulation::ToSegments(
      step.analysis, step.measured, alternative.next->choice);
  ASSIGN_OR_RETURN(const planning::Score score,
                   planning::ScoreChoice(step, other));
  v1::PlanAlternative it;
  const double more = score.seconds - own.seconds;
  it.set_step_seconds(score.seconds);
  it.set_more_seconds(more);
  it.set_more_share(own.seconds > 0 ? more / own.seconds : 0);
  it.set_at_least_seconds(ToSeconds(alternative.lower_bound) - own.seconds);
  const double noise =
      ToSeconds(more < 0 ? alternative.noise.above : alternative.noise.below);
  it.set_noise_seconds(noise);
  it.set_within_noise(std::abs(more) <= noise);
  it.set_communication_seconds(score.communication_seconds -
                               own.communication_seconds);
  it.set_resharding_seconds(score.resharding_seconds - own.resharding_seconds);
  it.set_compute_seconds(more - it.communication_seconds() -
                         it.resharding_seconds());
  it.set_peak_bytes(score.peak_bytes - own.peak_bytes);
  for (v1::PlanChange& change : ListChanges(step, choice, other)) {
    *it.add_changes() = std::move(change);
  }
  return it;
}

}  // namespace

std::vector<v1::PlanChange> ListChanges(const planning::MeasuredStep& step,
                                        const SegmentChoice& from,
                                        const SegmentChoice& to) {
  std::map<std::tuple<SegmentTypeId, int, int>, size_t> known;
  std::vector<v1::PlanChange> changes;
  for (int s = 0; s < static_cast<int>(from.size()); ++s) {
    if (from[s] == to[s]) continue;
    const SegmentTypeId type = step.analysis.type_of_segment[s];
    const auto& configurations = step.space.types[type].configurations;
    const auto [found, added] =
        known.try_emplace({type, from[s], to[s]}, changes.size());
    if (added) {
      v1::PlanChange& change = changes.emplace_back();
      change.set_type(static_cast<int>(type));
      change.set_from(configurations[from[s]].describe);
      change.set_to(configurations[to[s]].describe);
    }
    changes[found->second].add_segments(s);
  }
  return changes;
}

absl::StatusOr<v1::PlanExplanation> ExplainChoices(
    const planning::MeasuredStep& step, const SegmentChoice& choice,
    const search::Options& options) {
  ASSIGN_OR_RETURN(const problem::Choice nodes,
                   formulation::FromSegments(step.analysis, step.space,
                                             step.measured, choice));
  ASSIGN_OR_RETURN(const planning::Score own,
                   planning::ScoreChoice(step, choice));
  ASSIGN_OR_RETURN(const std::vector<search::Alternative> alternatives,
                   search::FindAlternatives(step.measured.problem, nodes,
                                            options, step.measured.usable));
  v1::PlanExplanation explanation;
  for (const search::Alternative& alternative : alternatives) {
    const SegmentTypeId type(alternative.type);
    const int config = step.measured.usable[type][alternative.config];
    v1::PlanChoice& it = *explanation.add_choices();
    it.set_type(alternative.type);
    it.set_config(config);
    it.set_describe(step.space.types[type].configurations[config].describe);
    for (int s = 0; s < static_cast<int>(choice.size()); ++s) {
      if (step.analysis.type_of_segment[s] == type && choice[s] == config) {
        it.add_segments(s);
      }
    }
    if (!alternative.next.has_value()) continue;
    ASSIGN_OR_RETURN(*it.mutable_next_best(),
                     Compare(step, choice, own, alternative));
  }
  return explanation;
}

}  // namespace meshwright::explain
