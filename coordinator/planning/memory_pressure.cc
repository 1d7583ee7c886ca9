#include "coordinator/planning/memory_pressure.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "coordinator/planning/plan_answer.h"
#include "coordinator/planning/recompute_candidates.h"
#include "planner/search/search.h"

namespace meshwright::planning {
namespace {

bool OpensRecompute(const v1::PlanRequest& request) {
  const auto& open = request.strategies().open();
  return std::find(open.begin(), open.end(),
                   segmenter::SwitchName(
                       segmenter::SegmentSwitch::kRecompute)) != open.end();
}

// Whether a plan within the limit could be faster without it.
absl::StatusOr<bool> IsMemoryShort(const problem::PlanProblem& limited,
                                   const v1::Plan& plan) {
  if (!limited.memory_limit_bytes.has_value()) return false;
  if (!plan.feasible()) return true;
  problem::PlanProblem free = limited;
  free.memory_limit_bytes.reset();
  ASSIGN_OR_RETURN(const search::Answer fastest, search::Solve(free));
  return problem::ToSeconds(fastest.plan->time) <
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

// Equal segments that recompute in groups, where that may pay.
absl::StatusOr<v1::Plan> PlanWithGroups(const v1::PlanRequest& request,
                                        const MeasuredStep& step, v1::Plan plan,
                                        const MeasureFunction& measure) {
  if (request.strategies().grouped_size() > 0) return plan;
  ASSIGN_OR_RETURN(const bool is_short,
                   IsMemoryShort(step.measured.problem, plan));
  if (!is_short) return plan;
  ASSIGN_OR_RETURN(const std::vector<std::string> names, WorthGrouping(step));
  if (names.empty()) return plan;
  v1::PlanRequest wider = request;
  wider.mutable_strategies()->mutable_grouped()->Assign(names.begin(),
                                                        names.end());
  ASSIGN_OR_RETURN(MeasuredStep grouped, measure(wider));
  AddEffort(step.programs, step.seconds, grouped.programs, grouped.seconds);
  ASSIGN_OR_RETURN(v1::Plan better, PlanOf(wider, grouped));
  if (IsBetter(better, plan)) return better;
  // What the look took was spent all the same.
  *plan.mutable_programs() = better.programs();
  *plan.mutable_seconds() = better.seconds();
  return plan;
}

}  // namespace

bool OpensSwitches(const v1::PlanRequest& request) {
  const auto& open = request.strategies().open();
  return std::any_of(open.begin(), open.end(), [](const std::string& name) {
    return segmenter::SwitchNamed(name).has_value();
  });
}

v1::PlanRequest OpeningRecompute(const v1::PlanRequest& request) {
  v1::PlanRequest wider = request;
  wider.mutable_strategies()->add_open(
      segmenter::SwitchName(segmenter::SegmentSwitch::kRecompute));
  return wider;
}

void AddSeconds(const v1::PlanSeconds& more, v1::PlanSeconds& sum) {
  sum.set_analyze(sum.analyze() + more.analyze());
  sum.set_compile(sum.compile() + more.compile());
  sum.set_profile(sum.profile() + more.profile());
}

void AddEffort(const v1::PlanPrograms& first_programs,
               const v1::PlanSeconds& first_seconds, v1::PlanPrograms& programs,
               v1::PlanSeconds& seconds) {
  programs.set_profiled(programs.profiled() + first_programs.profiled());
  programs.set_cached(programs.cached() - first_programs.profiled());
  AddSeconds(first_seconds, seconds);
}

absl::StatusOr<v1::Plan> PlanWithin(const v1::PlanRequest& request,
                                    const MeasuredStep& step,
                                    const MeasureFunction& measure) {
  ASSIGN_OR_RETURN(v1::Plan plan, PlanOf(request, step));
  if (OpensRecompute(request)) {
    return PlanWithGroups(request, step, std::move(plan), measure);
  }
  if (OpensSwitches(request)) return plan;
  ASSIGN_OR_RETURN(const bool is_short,
                   IsMemoryShort(step.measured.problem, plan));
  if (!is_short) return plan;
  const v1::PlanRequest wider = OpeningRecompute(request);
  ASSIGN_OR_RETURN(MeasuredStep second, measure(wider));
  AddEffort(step.programs, step.seconds, second.programs, second.seconds);
  ASSIGN_OR_RETURN(plan, PlanOf(wider, second));
  return PlanWithGroups(wider, second, std::move(plan), measure);
}

}  // namespace meshwright::planning
