#include "coordinator/explain/plan_basis.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/status_macros.h"
#include "coordinator/planning/score.h"
#include "coordinator/problem/peak_timeline.h"
#include "coordinator/stages/pass_time_split.h"
#include "planner/search/tradeoffs/pareto_front.h"
#include "profiledb/store/row_time.h"

namespace meshwright::explain {
namespace {

using problem::ToSeconds;
using segmenter::SegmentIndex;
using segmenter::SegmentTypeId;
using space::SegmentChoice;

double Cost(const UsedProgram& it) {
  return it.runs * static_cast<double>(store::GetTimeNs(it.row.measurement()));
}

std::vector<UsedProgram> ListUsedPrograms(const planning::MeasuredStep& step,
                                          const SegmentChoice& choice) {
  std::map<space::ProgramId, UsedProgram> used;
  for (size_t s = 0; s < choice.size(); ++s) {
    const SegmentTypeId type = step.analysis.type_of_segment[SegmentIndex(s)];
    const space::Configuration& it =
        step.space.types[type].configurations[choice[s]];
    if (!it.program.has_value()) continue;
    used[*it.program].runs += it.weight;
    for (const space::Correction& correction : it.corrections) {
      used[correction.program].runs += correction.weight;
    }
  }
  for (const auto& [pair, boundary] : step.space.edges) {
    for (const space::ProgramId program :
         step.space.boundaries[boundary]
             .programs[choice[pair.first]][choice[pair.second]]) {
      UsedProgram& it = used[program];
      it.runs += 1;
      it.resharding = true;
    }
  }
  std::vector<UsedProgram> programs;
  for (auto& [program, it] : used) {
    const v1::Program& described = step.space.programs[program];
    it.label = described.label();
    const auto row = step.results.find(described.key());
    if (row == step.results.end()) continue;  // its time is an estimate
    it.row = row->second;
    programs.push_back(std::move(it));
  }
  std::ranges::stable_sort(
      programs, [](const auto& a, const auto& b) { return Cost(a) > Cost(b); });
  return programs;
}

SegmentBasis SplitSegment(const stages::PassTimes& times) {
  const double forward = ToSeconds(times.forward);
  const double backward = ToSeconds(times.backward);
  const double update = ToSeconds(times.update);
  const double whole = forward + backward + update;
  if (whole <= 0) return {.forward_share = 1.0 / 3, .backward_share = 2.0 / 3};
  return {.forward_share = forward / whole,
          .backward_share = backward / whole,
          .update_share = update / whole};
}

std::vector<SegmentBasis> DescribeSegments(const planning::MeasuredStep& step,
                                           const SegmentChoice& choice,
                                           const problem::Choice& nodes) {
  const stages::StepPasses passes = stages::FindPasses(step.analysis);
  const stages::PassTimeSplit splits(step, passes, /*micro_batches=*/1,
                                     /*sums=*/false);
  const problem::PlanProblem& problem = step.measured.problem;
  std::vector<SegmentBasis> segments(choice.size());
  for (size_t n = 0; n < nodes.size(); ++n) {
    const formulation::SegmentRun& run = step.measured.runs[n];
    for (int copy = 0; copy < run.count; ++copy) {
      const SegmentIndex segment(run.first_segment + copy);
      const int type = problem.nodes[n].type;
      const int state = nodes[n][copy];
      const problem::Config& config = problem.types[type].configs[state];
      SegmentBasis& it = segments[segment];
      it = SplitSegment(splits.Estimate(
          {step.analysis.type_of_segment[segment], choice[segment]}));
      it.persistent_bytes = config.persistent_bytes;
      it.saved_bytes = config.saved_bytes;
      it.transient_bytes = step.measured.timeline[type][state].transient;
    }
  }
  return segments;
}

// By the same figures as a plan's own, of which some plans of the search's
// front may beat others in both.
absl::StatusOr<std::vector<FrontPlan>> FindFrontPlans(
    const planning::MeasuredStep& step, int points,
    const search::Options& options) {
  problem::PlanProblem free = step.measured.problem;
  free.memory_limit_bytes.reset();
  ASSIGN_OR_RETURN(const search::MemoryFront front,
                   search::FindFront(free, points, options));
  std::vector<FrontPlan> plans;
  for (const search::FrontPoint& point : front.points) {
    ASSIGN_OR_RETURN(
        const planning::Score score,
        planning::ScoreChoice(
            step, formulation::ToSegments(step.analysis, step.measured,
                                          point.plan.choice)));
    plans.push_back({.step_seconds = score.seconds,
                     .lower_bound_seconds = ToSeconds(point.lower_bound),
                     .peak_bytes = score.peak_bytes});
  }
  std::ranges::sort(plans, {}, &FrontPlan::peak_bytes);
  std::vector<FrontPlan> best;
  for (const FrontPlan& it : plans) {
    if (best.empty() || it.step_seconds < best.back().step_seconds) {
      best.push_back(it);
    }
  }
  return best;
}

}  // namespace

absl::StatusOr<PlanBasis> FindPlanBasis(const planning::MeasuredStep& step,
                                        const SegmentChoice& choice, int points,
                                        const search::Options& options) {
  ASSIGN_OR_RETURN(const problem::Choice nodes,
                   formulation::FromSegments(step.analysis, step.space,
                                             step.measured, choice));
  ASSIGN_OR_RETURN(const planning::Score score,
                   planning::ScoreChoice(step, choice));
  PlanBasis basis{.step_seconds = score.seconds,
                  .peak_bytes = score.peak_bytes};
  basis.reducing_bytes =
      formulation::FindPeakParts(step.measured, nodes).reducing;
  basis.programs = ListUsedPrograms(step, choice);
  basis.segments = DescribeSegments(step, choice, nodes);
  ASSIGN_OR_RETURN(basis.front, FindFrontPlans(step, points, options));
  return basis;
}

}  // namespace meshwright::explain
