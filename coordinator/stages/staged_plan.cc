#include "coordinator/stages/staged_plan.h"

#include <algorithm>
#include <chrono>

#include "base/status_macros.h"
#include "coordinator/planning/plan_metadata.h"
#include "coordinator/stages/describe_stages.h"
#include "coordinator/stages/partition_within_memory.h"
#include "coordinator/stages/remeasure_stages.h"

namespace meshwright::stages {

absl::StatusOr<v1::Plan> MakeStagedPlan(
    const v1::PlanRequest& request,
    const planning::PlanDependencies& dependencies,
    const jobs::ProgressFunction& progress) {
  const auto start = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(const v1::PlanRequest asked, UseClusterMesh(request));
  ASSIGN_OR_RETURN(const PartitionedStep cut,
                   PartitionWithinMemory(asked, dependencies, progress));
  const planning::MeasuredStep& cluster = cut.step->meshes.back()->step;
  v1::Plan plan = planning::BeginPlan(cut.request, cluster.space.context.mesh);
  planning::SetDevice(cluster.device, plan);
  *plan.mutable_programs() = cut.programs;
  AddPrograms(cut.split_programs, *plan.mutable_programs());
  *plan.mutable_seconds() = cut.seconds;
  const PartitionSearchAnswer& answer = cut.cuts;
  plan.set_feasible(answer.chosen.has_value());
  if (answer.chosen.has_value()) {
    DescribeStages(*cut.step, *answer.chosen, plan);
    plan.mutable_pipeline()->set_rounds(answer.rounds);
    AddRows(*answer.chosen, *cut.step, plan);
  } else if (answer.min_bytes.has_value()) {
    planning::NoteMinimumMemory(*answer.min_bytes, plan);
  }
  planning::KeepModel(asked, dependencies, plan);
  v1::PlanSeconds& seconds = *plan.mutable_seconds();
  seconds.set_total(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count());
  seconds.set_search(
      std::max(0.0, seconds.total() - seconds.analyze() - seconds.profile()));
  v1::PlanProgress phase;
  phase.set_phase("search");
  phase.set_total(1);
  phase.set_done(1);
  progress(phase);
  return plan;
}

}  // namespace meshwright::stages
