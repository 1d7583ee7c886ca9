#include "coordinator/explain/recall.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "coordinator/export/plan_choice.h"
#include "coordinator/jobs/recorded_device.h"
#include "coordinator/planning/plan_metadata.h"
#include "coordinator/space/read_request.h"
#include "coordinator/stages/staged_plan.h"

namespace meshwright::explain {
namespace {

void IgnoreProgress(const v1::PlanProgress&) {}

// make(request, dependencies) with what the store holds alone. kNotFound with
// what to measure first, where it lacks a measurement.
template <typename Make>
auto Recall(v1::PlanRequest request, const jobs::DeviceDescription& device,
            store::ProfileStore* store, Make make)
    -> decltype(make(request, planning::PlanDependencies())) {
  request.set_no_wait(true);
  // A plan may come from anyone, so its mesh is checked like one that is typed.
  RETURN_IF_ERROR(space::ReadMesh(request.mesh()).status());
  jobs::RecordedDevice measurer(device);
  auto answer = make(request, planning::PlanDependencies{store, &measurer});
  if (!absl::IsUnavailable(answer.status())) return answer;
  const std::string mesh = absl::StrJoin(request.mesh().shape(), "x");
  const bool staged = request.has_stages();
  return absl::NotFoundError(
      absl::StrCat("the store lacks measurements of ", request.model_name(),
                   " on ", staged ? "cluster " : "mesh ", mesh,
                   "; measure it with `meshwright plan --mesh ", mesh,
                   staged ? " --stages`" : "`"));
}

}  // namespace

absl::Status CheckMeasured(const v1::Plan& plan) {
  if (plan.device() != "symbolic") return absl::OkStatus();
  return absl::InvalidArgumentError(
      "this plan was not measured; to measure, plan without --symbolic and "
      "--baseline");
}

absl::StatusOr<std::string> RecallModel(const v1::Plan& plan,
                                        store::ProfileStore* store) {
  auto model = store->LookupProgram(planning::GetModuleKey(plan.model()));
  if (!absl::IsNotFound(model.status())) return model;
  RETURN_IF_ERROR(CheckMeasured(plan));
  return absl::NotFoundError(absl::StrCat(
      "the store does not hold the model of the plan, ", plan.model().name(),
      "; name the store it was planned with in --store, or the "
      "model in --model"));
}

absl::Status CheckModel(const v1::Plan& plan, const std::string& model,
                        const std::string& path) {
  if (planning::IsSameModel(planning::DescribeModel(model), plan.model())) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      path, " is another model than the plan's, ", plan.model().name()));
}

absl::StatusOr<jobs::DeviceDescription> ReadDevice(const v1::Plan& plan) {
  RETURN_IF_ERROR(CheckMeasured(plan));
  if (plan.platform_version().empty()) {
    return absl::InvalidArgumentError(
        "the plan does not name the plugin that it was measured with; plan "
        "again with `meshwright plan`, which measures nothing twice");
  }
  const size_t space = plan.device().find(' ');
  jobs::DeviceDescription device;
  device.platform = plan.device().substr(0, space);
  device.device_kind = space == std::string::npos
                           ? device.platform
                           : plan.device().substr(space + 1);
  device.platform_version = plan.platform_version();
  device.fingerprint = plan.device_fingerprint();
  device.device_count = 1;
  for (const int64_t size : plan.mesh()) {
    device.device_count *= static_cast<int>(size);
  }
  return device;
}

absl::StatusOr<planning::MeasuredStep> RecallStep(
    const v1::PlanRequest& request, const jobs::DeviceDescription& device,
    store::ProfileStore* store) {
  return Recall(
      request, device, store, [](const auto& asked, const auto& dependencies) {
        return planning::MeasureStep(asked, dependencies, IgnoreProgress);
      });
}

absl::StatusOr<RecalledPlan> RecallChoice(const v1::Plan& plan,
                                          std::string hlo_module,
                                          store::ProfileStore* store) {
  ASSIGN_OR_RETURN(const jobs::DeviceDescription device, ReadDevice(plan));
  RecalledPlan recalled;
  ASSIGN_OR_RETURN(recalled.step, RecallStep(planning::RestoreRequest(
                                                 plan, std::move(hlo_module)),
                                             device, store));
  ASSIGN_OR_RETURN(
      recalled.choice,
      exporting::FindChoice(plan, recalled.step.analysis, recalled.step.space));
  return recalled;
}

absl::StatusOr<v1::Plan> RecallPlan(const v1::PlanRequest& request,
                                    const jobs::DeviceDescription& device,
                                    store::ProfileStore* store) {
  return Recall(
      request, device, store, [](const auto& asked, const auto& dependencies) {
        return planning::FindPlan(asked, dependencies, IgnoreProgress);
      });
}

absl::StatusOr<std::unique_ptr<stages::MeasuredMeshes>> RecallMeshes(
    const v1::PlanRequest& request, const jobs::DeviceDescription& device,
    store::ProfileStore* store) {
  ASSIGN_OR_RETURN(const v1::PlanRequest cluster,
                   stages::UseClusterMesh(request));
  return Recall(
      cluster, device, store, [](const auto& asked, const auto& dependencies) {
        return stages::MeasureMeshes(asked, dependencies, IgnoreProgress);
      });
}

absl::StatusOr<v1::Plan> RecallStagedPlan(const v1::PlanRequest& request,
                                          const jobs::DeviceDescription& device,
                                          store::ProfileStore* store) {
  return Recall(
      request, device, store, [](const auto& asked, const auto& dependencies) {
        return stages::MakeStagedPlan(asked, dependencies, IgnoreProgress);
      });
}

}  // namespace meshwright::explain
