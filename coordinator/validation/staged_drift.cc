#include "coordinator/validation/staged_drift.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "coordinator/explain/recall.h"
#include "coordinator/export/plan_choice.h"
#include "coordinator/planning/plan_metadata.h"
#include "coordinator/planning/program_times.h"
#include "coordinator/stages/planned_pipeline.h"

namespace meshwright::validation {
namespace {

// By stage what of its segments runs on `step`'s mesh: all or nothing.
absl::StatusOr<std::vector<PartialChoice>> ListChoices(
    const planning::MeasuredStep& step, const v1::Plan& plan) {
  const space::Mesh& mesh = step.space.context.mesh;
  std::vector<PartialChoice> choices;
  for (const v1::PlanStage& stage : plan.stages()) {
    PartialChoice& own =
        choices.emplace_back(step.analysis.type_of_segment.size());
    if (!std::equal(mesh.begin(), mesh.end(), stage.mesh().begin(),
                    stage.mesh().end())) {
      continue;
    }
    ASSIGN_OR_RETURN(const space::SegmentChoice all,
                     exporting::FindChoice(stage, step.analysis, step.space));
    const int first = stage.first_segment();
    std::copy_n(all.begin() + first, stage.segments_size(),
                own.begin() + first);
  }
  return choices;
}

}  // namespace

absl::StatusOr<std::vector<Probe>> ChooseStageProbes(
    const std::string& hlo_module, const v1::Plan& plan,
    store::ProfileStore* store) {
  ASSIGN_OR_RETURN(const jobs::DeviceDescription device,
                   explain::ReadDevice(plan));
  ASSIGN_OR_RETURN(
      const auto measured,
      explain::RecallMeshes(planning::RestoreRequest(plan, hlo_module), device,
                            store));
  std::vector<Probe> probes;
  for (const auto& mesh : measured->meshes) {
    planning::UseProgramTimes(plan, mesh->step.results);
    ASSIGN_OR_RETURN(const auto choices, ListChoices(mesh->step, plan));
    for (Probe& probe : ChooseProbes(mesh->step, choices)) {
      probes.push_back(std::move(probe));
    }
  }
  return probes;
}

StagedDrift EstimateStageDrifts(
    const v1::Plan& plan, const std::vector<Probe>& probes,
    const std::map<std::string, v1::ProfileResult>& results) {
  StagedDrift drift;
  drift.machine = EstimateDrift(probes, results);
  for (int i = 0; i < plan.stages_size(); ++i) {
    const v1::PlanStage& stage = plan.stages(i);
    const double once = stage.forward_seconds() +
                        stages::GetBackwardSeconds(plan, stage) +
                        stage.update_seconds();
    drift.stages.push_back(drift.machine.has_value()
                               ? EstimatePlanDrift(static_cast<size_t>(i), once,
                                                   probes, results,
                                                   *drift.machine)
                               : 1);
  }
  return drift;
}

}  // namespace meshwright::validation
