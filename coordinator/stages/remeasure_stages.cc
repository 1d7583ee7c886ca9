#include "coordinator/stages/remeasure_stages.h"

#include <vector>

#include "base/status_macros.h"
#include "coordinator/planning/remeasure.h"

namespace meshwright::stages {
namespace {

// By mesh: the programs that the stages on it stand on, maybe several times.
std::vector<planning::Measuring::Programs> ListUsed(
    const ChosenPartition& chosen, const MeasuredMeshes& step) {
  std::vector<planning::Measuring::Programs> used(step.meshes.size());
  for (const ChosenStage& stage : chosen.stages) {
    const planning::MeasuredStep& on = step.meshes[stage.place.mesh]->step;
    const auto programs =
        planning::ListRunPrograms(on, stage.first(), stage.run.choice);
    planning::Measuring::Programs& all = used[stage.place.mesh];
    all.insert(all.end(), programs.begin(), programs.end());
  }
  return used;
}

}  // namespace

absl::StatusOr<bool> RemeasureStages(
    const v1::PlanRequest& request, const ChosenPartition& chosen,
    const planning::PlanDependencies& dependencies,
    const jobs::ProgressFunction& progress, MeasuredMeshes& step) {
  if (request.no_wait()) return false;
  bool any = false;
  const auto used = ListUsed(chosen, step);
  for (size_t mesh = 0; mesh < used.size(); ++mesh) {
    planning::MeasuredStep& on = step.meshes[mesh]->step;
    const v1::DeviceSpec device =
        planning::MakeDeviceSpec(request, on.space.context.mesh);
    ASSIGN_OR_RETURN(const bool changed,
                     planning::RemeasureNoisyRows({used[mesh]}, device,
                                                  dependencies, progress, on));
    any = any || changed;
  }
  if (any) RETURN_IF_ERROR(OpenSearches(step));
  return any;
}

void AddQuality(const ChosenPartition& chosen, const MeasuredMeshes& step,
                v1::Plan& plan) {
  const auto used = ListUsed(chosen, step);
  for (size_t mesh = 0; mesh < used.size(); ++mesh) {
    planning::AddQuality(used[mesh], step.meshes[mesh]->step, plan);
  }
}

}  // namespace meshwright::stages
