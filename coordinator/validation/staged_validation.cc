#include "coordinator/validation/staged_validation.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "coordinator/launch/make_launch.h"
#include "coordinator/launch/sequence.h"
#include "coordinator/planning/plan_pipeline.h"
#include "coordinator/space/read_request.h"
#include "coordinator/validation/other_inputs.h"
#include "coordinator/validation/prepare.h"

namespace meshwright::validation {
namespace {

// Far from the seeds of arguments and of micro-batches.
constexpr uint64_t kOtherSequenceSeeds = uint64_t{1} << 40;

absl::StatusOr<v1::RunnerRequest> MakeRequest(const std::string& hlo_module,
                                              const v1::Plan& plan,
                                              const launch::Launch& launch,
                                              uint64_t seeds) {
  v1::RunnerRequest request;
  *request.mutable_options() = planning::MakeMeasureOptions();
  request.mutable_options()->set_xla_flags(plan.xla_flags());
  request.mutable_options()->set_dynamic_limit_ratio(0);
  request.mutable_options()->set_minimum_samples(24);
  request.mutable_options()->set_minimum_time_ns(500'000'000);
  *request.mutable_sequence() = AddSequence(launch, seeds, request);
  if (launch.micro_batches == 1) {
    ASSIGN_OR_RETURN(*request.mutable_reference_sequence(),
                     AddWholeStep(hlo_module, launch, seeds, request));
    return request;
  }
  ASSIGN_OR_RETURN(const launch::Launch single,
                   launch::MakeUnsharded(hlo_module, plan));
  *request.mutable_reference_sequence() = AddSequence(single, seeds, request);
  return request;
}

absl::Status CheckMesh(const google::protobuf::RepeatedField<int64_t>& shape) {
  v1::MeshSpec mesh;
  *mesh.mutable_shape() = shape;
  return space::ReadMesh(mesh).status();
}

}  // namespace

absl::Status CheckMeshes(const v1::Plan& plan) {
  RETURN_IF_ERROR(CheckMesh(plan.mesh()));
  for (const v1::PlanStage& stage : plan.stages()) {
    RETURN_IF_ERROR(CheckMesh(stage.mesh()));
    if (stage.mesh_size() != plan.mesh_size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a stage's mesh ", absl::StrJoin(stage.mesh(), "x"),
          " is no part of the cluster ", absl::StrJoin(plan.mesh(), "x")));
    }
  }
  return absl::OkStatus();
}

int CountStageDevices(const v1::Plan& plan) {
  int64_t largest = 1;
  for (const v1::PlanStage& stage : plan.stages()) {
    const space::Mesh mesh(stage.mesh().begin(), stage.mesh().end());
    largest = std::max(largest, space::CountDevices(mesh));
  }
  return static_cast<int>(largest);
}

absl::StatusOr<v1::StagedValidationReport> ValidateStages(
    const std::string& hlo_module, const v1::Plan& plan,
    const std::vector<Probe>& probes, const v1::DeviceSpec& device,
    const SequenceRunner& run) {
  ASSIGN_OR_RETURN(const launch::Launch launch,
                   launch::MakeLaunch(hlo_module, plan));
  ASSIGN_OR_RETURN(v1::RunnerRequest request,
                   MakeRequest(hlo_module, plan, launch, 0));
  *request.mutable_device() = device;
  for (const Probe& probe : probes) {
    *request.add_programs() = probe.program;
  }
  ASSIGN_OR_RETURN(StagedResults results, run(request));
  results.probes = probes;
  const double tolerance = ChooseTolerance(launch.analysis.module);
  ASSIGN_OR_RETURN(const v1::StagedValidationReport report,
                   MakeStagedReport(plan, launch, results, tolerance));
  // A plan that differs on these inputs alone met a kink (other_inputs.h).
  if (!report.has_failure() &&
      !(FindLargest(results.differences) <= tolerance)) {
    ASSIGN_OR_RETURN(
        v1::RunnerRequest other,
        MakeRequest(hlo_module, plan, launch, kOtherSequenceSeeds));
    *other.mutable_device() = device;
    RunOnce(*other.mutable_options());
    const absl::StatusOr<StagedResults> again = run(other);
    if (absl::IsCancelled(again.status())) return again.status();
    if (!again.ok()) return report;  // the difference stands
    results.other_differences = again->differences;
    return MakeStagedReport(plan, launch, results, tolerance);
  }
  return report;
}

}  // namespace meshwright::validation
