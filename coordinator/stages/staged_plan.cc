#include "coordinator/stages/staged_plan.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>

#include "base/status_macros.h"
#include "coordinator/service/plan_heading.h"
#include "coordinator/stages/choose_cuts.h"
#include "coordinator/stages/describe_stages.h"
#include "coordinator/stages/measured_meshes.h"

namespace meshwright::stages {
namespace {

void AddPrograms(const v1::PlanPrograms& more, v1::PlanPrograms& sum) {
  sum.set_total(sum.total() + more.total());
  sum.set_distinct(sum.distinct() + more.distinct());
  sum.set_profiled(sum.profiled() + more.profiled());
  sum.set_cached(sum.cached() + more.cached());
  sum.set_pruned(sum.pruned() + more.pruned());
  sum.set_failed(sum.failed() + more.failed());
  sum.set_halves(sum.halves() + more.halves());
}

void AddSeconds(const v1::PlanSeconds& more, v1::PlanSeconds& sum) {
  sum.set_analyze(sum.analyze() + more.analyze());
  sum.set_compile(sum.compile() + more.compile());
  sum.set_profile(sum.profile() + more.profile());
}

// `plan` on one mesh looks by itself whether it would help.
void NoteRecompute(const v1::PlanRequest& request, v1::Plan& plan) {
  for (const std::string& open : request.strategies().open()) {
    if (open == segmenter::SwitchName(segmenter::SegmentSwitch::kRecompute)) {
      return;
    }
  }
  plan.add_notes(
      "stages that recompute need less memory and were not searched; --open "
      "recompute searches them");
}

}  // namespace

absl::StatusOr<v1::Plan> MakeStagedPlan(
    const v1::PlanRequest& request,
    const service::PlanDependencies& dependencies,
    const service::PlanProgressFunction& progress) {
  const auto start = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(const v1::PlanRequest asked, OnCluster(request));
  ASSIGN_OR_RETURN(const std::unique_ptr<MeasuredMeshes> step,
                   MeasureMeshes(asked, dependencies, progress));
  v1::PlanProgress phase;
  phase.set_phase("search");
  phase.set_total(1);
  progress(phase);
  const service::MeasuredStep& cluster = step->meshes.back()->step;
  v1::Plan plan = service::BeginPlan(asked, cluster.space.context.mesh);
  service::SetDevice(cluster.device, plan);
  for (const auto& mesh : step->meshes) {
    AddPrograms(mesh->step.programs, *plan.mutable_programs());
    AddSeconds(mesh->step.seconds, *plan.mutable_seconds());
  }
  ASSIGN_OR_RETURN(const CutsAnswer answer,
                   ChooseCuts(asked, *step, dependencies, progress,
                              *plan.mutable_programs()));
  plan.set_feasible(answer.chosen.has_value());
  if (answer.chosen.has_value()) {
    DescribeStages(*step, *answer.chosen, plan);
    plan.mutable_pipeline()->set_rounds(answer.rounds);
  } else if (answer.least_bytes.has_value()) {
    service::NoteLeastMemory(*answer.least_bytes, plan);
  }
  if (!plan.feasible()) NoteRecompute(asked, plan);
  service::KeepModel(asked, dependencies, plan);
  v1::PlanSeconds& seconds = *plan.mutable_seconds();
  seconds.set_total(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count());
  seconds.set_search(
      std::max(0.0, seconds.total() - seconds.analyze() - seconds.profile()));
  phase.set_done(1);
  progress(phase);
  return plan;
}

}  // namespace meshwright::stages
