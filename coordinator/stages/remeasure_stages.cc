#include "coordinator/stages/remeasure_stages.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "coordinator/planning/program_times.h"
#include "coordinator/planning/remeasure.h"
#include "coordinator/stages/partition_search.h"

namespace meshwright::stages {
namespace {

using Programs = planning::Measuring::Programs;

// By mesh: the programs that the stages on it stand on, maybe several times.
std::vector<Programs> ListUsed(const ChosenPartition& chosen,
                               const MeasuredMeshes& step) {
  std::vector<Programs> used(step.meshes.size());
  for (const ChosenStage& stage : chosen.stages) {
    const planning::MeasuredStep& on = step.meshes[stage.place.mesh]->step;
    const auto programs =
        planning::ListRunPrograms(on, stage.first(), stage.run.choice);
    Programs& all = used[stage.place.mesh];
    all.insert(all.end(), programs.begin(), programs.end());
  }
  return used;
}

// The data behind a mesh's searches.
struct Searched {
  store::Results rows;
  std::unique_ptr<StageSearch> search;
  std::unique_ptr<PassTimeSplit> splits;
};

void Swap(MeasuredMesh& mesh, Searched& other) {
  std::swap(mesh.step.results, other.rows);
  std::swap(mesh.search, other.search);
  std::swap(mesh.splits, other.splits);
}

// By mesh: the programs of the stages that would be chosen if all doubtful rows
// were too slow. How their passes split is looked up, not measured.
absl::StatusOr<std::vector<Programs>> ListRivals(
    v1::PlanRequest request, const planning::PlanDependencies& dependencies,
    const jobs::ProgressFunction& progress, MeasuredMeshes& step) {
  request.set_no_wait(true);
  std::vector<Searched> own(step.meshes.size());
  for (size_t mesh = 0; mesh < own.size(); ++mesh) {
    own[mesh].rows = planning::MakeOptimisticRows(step.meshes[mesh]->step);
    Swap(*step.meshes[mesh], own[mesh]);
  }
  RETURN_IF_ERROR(OpenSearches(step));
  v1::PlanPrograms counts;  // of what is looked up again
  ASSIGN_OR_RETURN(
      const PartitionSearchAnswer rival,
      SearchPartition(request, step, dependencies, progress, counts));
  for (size_t mesh = 0; mesh < own.size(); ++mesh) {
    Swap(*step.meshes[mesh], own[mesh]);
  }
  if (!rival.chosen.has_value()) return std::vector<Programs>(own.size());
  return ListUsed(*rival.chosen, step);
}

}  // namespace

absl::StatusOr<bool> RemeasureStages(
    const v1::PlanRequest& request, const ChosenPartition& chosen,
    const planning::PlanDependencies& dependencies,
    const jobs::ProgressFunction& progress, MeasuredMeshes& step) {
  const bool is_doubtful = std::any_of(
      step.meshes.begin(), step.meshes.end(),
      [](const auto& mesh) { return planning::HasDoubtfulRows(mesh->step); });
  if (request.no_wait() || !is_doubtful) return false;
  const std::vector<Programs> used = ListUsed(chosen, step);
  ASSIGN_OR_RETURN(const std::vector<Programs> rivals,
                   ListRivals(request, dependencies, progress, step));
  bool any = false;
  for (size_t mesh = 0; mesh < used.size(); ++mesh) {
    planning::MeasuredStep& on = step.meshes[mesh]->step;
    const v1::DeviceSpec device =
        planning::MakeDeviceSpec(request, on.space.context.mesh);
    ASSIGN_OR_RETURN(const bool changed, planning::RemeasureNoisyRows(
                                             {used[mesh], rivals[mesh]}, device,
                                             dependencies, progress, on));
    any = any || changed;
  }
  if (any) RETURN_IF_ERROR(OpenSearches(step));
  return any;
}

void AddRows(const ChosenPartition& chosen, const MeasuredMeshes& step,
             v1::Plan& plan) {
  const auto used = ListUsed(chosen, step);
  for (size_t mesh = 0; mesh < used.size(); ++mesh) {
    planning::AddQuality(used[mesh], step.meshes[mesh]->step, plan);
    planning::AddProgramTimes(used[mesh], step.meshes[mesh]->step, plan);
  }
}

}  // namespace meshwright::stages
