#include "coordinator/validation/remeasure_plan.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "coordinator/estimation/time_base.h"
#include "coordinator/export/plan_choice.h"
#include "coordinator/jobs/device_digest.h"
#include "coordinator/planning/plan_pipeline.h"
#include "coordinator/planning/remeasure.h"
#include "coordinator/segmenter/analysis.h"
#include "coordinator/stages/measured_meshes.h"
#include "coordinator/validation/staged_validation.h"
#include "profiledb/store/row_time.h"

namespace meshwright::validation {
namespace {

using Programs = planning::Measuring::Programs;

// The step on a mesh of the plan, and what the plan uses there, each once.
struct UsedMesh {
  planning::MeasuredStep step;
  Programs programs;  // of the step's space
};
using UsedMeshes = std::map<space::Mesh, std::unique_ptr<UsedMesh>>;

void AddPrograms(const Programs& programs, UsedMesh& mesh) {
  std::set<const v1::Program*> known(mesh.programs.begin(),
                                     mesh.programs.end());
  for (const v1::Program* program : programs) {
    if (known.insert(program).second) mesh.programs.push_back(program);
  }
}

absl::StatusOr<UsedMeshes> OpenOneMesh(const v1::Plan& plan,
                                       const v1::PlanRequest& request,
                                       jobs::Measurer* measurer) {
  auto used = std::make_unique<UsedMesh>();
  ASSIGN_OR_RETURN(used->step, planning::OpenStep(request, measurer));
  used->programs = planning::ListUsedPrograms(plan, used->step);
  UsedMeshes meshes;
  meshes[used->step.analysis.mesh] = std::move(used);
  return meshes;
}

absl::Status AddStage(const v1::PlanStage& stage, UsedMesh& mesh) {
  ASSIGN_OR_RETURN(
      const space::SegmentChoice all,
      exporting::FindChoice(stage, mesh.step.analysis, mesh.step.space));
  const auto first = all.begin() + stage.first_segment();
  AddPrograms(planning::ListRunPrograms(
                  mesh.step, segmenter::SegmentIndex(stage.first_segment()),
                  {first, first + stage.segments_size()}),
              mesh);
  return absl::OkStatus();
}

absl::StatusOr<UsedMeshes> OpenStageMeshes(const v1::Plan& plan,
                                           const v1::PlanRequest& request,
                                           jobs::Measurer* measurer) {
  RETURN_IF_ERROR(CheckMeshes(plan));
  ASSIGN_OR_RETURN(const v1::PlanRequest cluster,
                   stages::UseClusterMesh(request));
  ASSIGN_OR_RETURN(const segmenter::Analysis analysis,
                   planning::AnalyzeStep(cluster));
  UsedMeshes meshes;
  for (const v1::PlanStage& stage : plan.stages()) {
    const space::Mesh mesh(stage.mesh().begin(), stage.mesh().end());
    std::unique_ptr<UsedMesh>& used = meshes[mesh];
    if (used == nullptr) {
      used = std::make_unique<UsedMesh>();
      ASSIGN_OR_RETURN(
          segmenter::Analysis here,
          mesh == analysis.mesh ? analysis : segmenter::OnMesh(analysis, mesh));
      ASSIGN_OR_RETURN(used->step, planning::OpenAnalyzed(
                                       cluster, std::move(here), measurer));
    }
    RETURN_IF_ERROR(AddStage(stage, *used));
  }
  return meshes;
}

absl::Status CheckDevices(const v1::Plan& plan, const v1::PlanRequest& request,
                          jobs::Measurer* measurer) {
  const space::Mesh mesh(plan.mesh().begin(), plan.mesh().end());
  ASSIGN_OR_RETURN(const jobs::DeviceDescription here,
                   measurer->Describe(planning::MakeDeviceSpec(request, mesh)));
  if (jobs::DigestFingerprint(here.fingerprint) ==
      jobs::DigestFingerprint(plan.device_fingerprint())) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      "the plan was measured on other devices than these; remeasure it where "
      "it was made, or plan again here");
}

absl::Status CheckKeys(const v1::RemeasureRequest& asked,
                       const UsedMeshes& meshes) {
  std::set<std::string> missing(asked.keys().begin(), asked.keys().end());
  for (const auto& [shape, mesh] : meshes) {
    for (const v1::Program* program : mesh->programs) {
      missing.erase(program->key());
    }
  }
  if (missing.empty()) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat(
      "the plan uses no program with the key ", *missing.begin(),
      "; `meshwright profiles remeasure --all` lists the keys of those that it "
      "uses"));
}

// Whether the request means this program, whose row may be absent.
bool IsAsked(const v1::RemeasureRequest& asked, const std::string& key,
             const v1::ProfileResult* row,
             const estimation::TimeBase& fastest) {
  if (!asked.keys().empty()) {
    return std::find(asked.keys().begin(), asked.keys().end(), key) !=
           asked.keys().end();
  }
  return asked.all() || row == nullptr || planning::IsNoisy(*row, fastest);
}

double GetSeconds(const v1::ProfileResult& row) {
  return static_cast<double>(store::GetTimeNs(row.measurement())) * 1e-9;
}

// Measures what is asked for of a mesh, and adds its rows to the report.
absl::Status RemeasureMesh(const v1::PlanRequest& request,
                           const v1::RemeasureRequest& asked,
                           const planning::PlanDependencies& dependencies,
                           const jobs::ProgressFunction& progress,
                           const UsedMesh& mesh, v1::RemeasureReport& report) {
  std::vector<std::string> keys;  // of the whole space, as the plan judged
  for (const v1::Program& program : mesh.step.space.programs) {
    keys.push_back(program.key());
  }
  ASSIGN_OR_RETURN(const store::Results before,
                   dependencies.store->Lookup(keys));
  const auto find_row = [&](const std::string& key) {
    const auto row = before.find(key);
    return row == before.end() ? nullptr : &row->second;
  };
  const estimation::TimeBase fastest = estimation::FindFastestAnchor(before);
  Programs again;
  for (const v1::Program* program : mesh.programs) {
    if (IsAsked(asked, program->key(), find_row(program->key()), fastest)) {
      again.push_back(program);
    }
  }
  report.set_left(report.left() +
                  static_cast<int>(mesh.programs.size() - again.size()));
  const space::KeyContext& context = mesh.step.space.context;
  planning::Measuring measuring(dependencies,
                                planning::MakeDeviceSpec(request, context.mesh),
                                context, progress);
  RETURN_IF_ERROR(measuring.Remeasure(again));
  for (const v1::Program* program : again) {
    v1::RemeasuredRow& row = *report.add_rows();
    row.set_label(program->label());
    row.set_key(program->key());
    const v1::ProfileResult* const old = find_row(program->key());
    if (old != nullptr && old->outcome() == v1::MEASURED) {
      row.set_seconds_before(GetSeconds(*old));
      row.set_quality_before(old->measurement().quality());
    }
    const v1::ProfileResult& now = measuring.results().at(program->key());
    if (now.outcome() == v1::MEASURED) {
      row.set_seconds_after(GetSeconds(now));
      row.set_quality_after(now.measurement().quality());
    }
    ASSIGN_OR_RETURN(const auto kept, dependencies.store->LookupKept(
                                          program->key(), store::kSharedPool));
    row.set_measurements(static_cast<int>(kept.size()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<v1::RemeasureReport> RemeasurePlan(
    const v1::Plan& plan, const v1::PlanRequest& request,
    const v1::RemeasureRequest& asked,
    const planning::PlanDependencies& dependencies,
    const jobs::ProgressFunction& progress) {
  jobs::Measurer* const measurer = dependencies.measurer;
  RETURN_IF_ERROR(CheckDevices(plan, request, measurer));
  ASSIGN_OR_RETURN(const UsedMeshes meshes,
                   plan.has_pipeline()
                       ? OpenStageMeshes(plan, request, measurer)
                       : OpenOneMesh(plan, request, measurer));
  RETURN_IF_ERROR(CheckKeys(asked, meshes));
  v1::RemeasureReport report;
  for (const auto& [shape, mesh] : meshes) {
    RETURN_IF_ERROR(
        RemeasureMesh(request, asked, dependencies, progress, *mesh, report));
  }
  return report;
}

}  // namespace meshwright::validation
