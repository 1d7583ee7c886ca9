#include "coordinator/planning/memory_pressure.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/status_macros.h"
#include "coordinator/planning/recompute_candidates.h"

namespace meshwright::planning {
namespace {

bool OpensRecompute(const v1::PlanRequest& request) {
  const auto& open = request.strategies().open();
  return std::find(open.begin(), open.end(),
                   segmenter::NameSwitch(
                       segmenter::SegmentSwitch::kRecompute)) != open.end();
}

bool OpensGroups(const v1::PlanRequest& request) {
  return request.strategies().grouped_size() > 0;
}

// Whether a plan within the limit could be faster without it.
absl::StatusOr<bool> IsMemoryShort(const problem::PlanProblem& limited,
                                   const v1::Plan& plan,
                                   const search::Options& options) {
  if (!limited.memory_limit_bytes.has_value()) return false;
  if (!plan.feasible()) return true;
  problem::PlanProblem free = limited;
  free.memory_limit_bytes.reset();
  ASSIGN_OR_RETURN(const search::Answer fastest,
                   search::TrySolve(free, options));
  return fastest.plan.has_value() &&
         problem::ToSeconds(fastest.plan->time) <
             (plan.has_tie() ? plan.tie().fastest_seconds()
                             : plan.predicted().step_seconds());
}

bool HasGroups(const v1::Plan& plan) {
  const auto& segments = plan.segments();
  return std::any_of(segments.begin(), segments.end(),
                     [](const v1::PlanSegment& it) { return it.chained(); });
}

// Whether the second answers more: a plan where there was none, a faster one,
// or a smaller least memory.
bool IsBetter(const v1::Plan& second, const v1::Plan& first) {
  if (second.feasible() != first.feasible()) return second.feasible();
  if (!first.feasible()) {
    return second.least_memory_bytes() < first.least_memory_bytes();
  }
  return HasGroups(second) &&
         second.predicted().step_seconds() < first.predicted().step_seconds();
}

}  // namespace

bool OpensSwitches(const v1::PlanRequest& request) {
  const auto& open = request.strategies().open();
  return std::any_of(open.begin(), open.end(), [](const std::string& name) {
    return segmenter::ParseSwitch(name).has_value();
  });
}

v1::PlanRequest OpenRecompute(const v1::PlanRequest& request) {
  v1::PlanRequest wider = request;
  wider.mutable_strategies()->add_open(
      segmenter::NameSwitch(segmenter::SegmentSwitch::kRecompute));
  return wider;
}

void AddSeconds(const v1::PlanSeconds& more, v1::PlanSeconds& sum) {
  sum.set_analyze(sum.analyze() + more.analyze());
  sum.set_compile(sum.compile() + more.compile());
  sum.set_profile(sum.profile() + more.profile());
}

void AddWork(const v1::PlanPrograms& first_programs,
             const v1::PlanSeconds& first_seconds, v1::PlanPrograms& programs,
             v1::PlanSeconds& seconds) {
  programs.set_profiled(programs.profiled() + first_programs.profiled());
  programs.set_remeasured(programs.remeasured() + first_programs.remeasured());
  programs.set_cached(programs.cached() - first_programs.profiled());
  AddSeconds(first_seconds, seconds);
}

absl::StatusOr<std::optional<v1::PlanRequest>> WidenForMemory(
    const v1::PlanRequest& request, const MeasuredStep& step,
    const v1::Plan& plan, const search::Options& options) {
  const bool opens_recompute = OpensRecompute(request);
  if (OpensGroups(request) || (!opens_recompute && OpensSwitches(request))) {
    return std::nullopt;
  }
  ASSIGN_OR_RETURN(const bool is_short,
                   IsMemoryShort(step.measured.problem, plan, options));
  if (!is_short) return std::nullopt;
  if (!opens_recompute) return OpenRecompute(request);
  ASSIGN_OR_RETURN(const std::vector<std::string> candidates,
                   FindRecomputeCandidates(step, options));
  if (candidates.empty()) return std::nullopt;
  v1::PlanRequest wider = request;
  wider.mutable_strategies()->mutable_grouped()->Assign(candidates.begin(),
                                                        candidates.end());
  return wider;
}

v1::Plan SelectPlan(const v1::PlanRequest& wider, v1::Plan plan,
                    v1::Plan wider_plan) {
  // Without groups the wider space holds every plan of the other.
  if (!OpensGroups(wider) || IsBetter(wider_plan, plan)) return wider_plan;
  *plan.mutable_programs() = wider_plan.programs();
  *plan.mutable_seconds() = wider_plan.seconds();
  return plan;
}

}  // namespace meshwright::planning
