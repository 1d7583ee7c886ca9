#include "coordinator/explain/recall.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"
#include "coordinator/jobs/recorded_device.h"
#include "coordinator/space/read_request.h"
#include "coordinator/stages/staged_plan.h"

namespace meshwright::explain {
namespace {

void IgnoreProgress(const v1::PlanProgress&) {}

// A plan may come from anyone, so its mesh is checked like one that is typed.
absl::Status ForbidMeasuring(v1::PlanRequest& request) {
  request.set_no_wait(true);
  return space::ReadMesh(request.mesh()).status();
}

// kNotFound with what to measure first, where the store lacks a measurement.
template <typename T>
absl::StatusOr<T> OrMissing(const v1::PlanRequest& request,
                            absl::StatusOr<T> answer) {
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

absl::StatusOr<std::string> RecallModel(const v1::Plan& plan,
                                        store::ProfileStore* store) {
  auto model = store->LookupProgram(plan.model().fingerprint());
  if (!absl::IsNotFound(model.status())) return model;
  return absl::NotFoundError(absl::StrCat(
      "the store does not hold the model of the plan, ", plan.model().name(),
      "; name the store it was planned with in --store, or the "
      "model in --model"));
}

absl::Status CheckModel(const v1::Plan& plan, const std::string& model,
                        const std::string& path) {
  if (base::Sha256Hex(model) == plan.model().fingerprint()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      path, " is another model than the plan's, ", plan.model().name()));
}

absl::StatusOr<jobs::DeviceDescription> ReadDevice(const v1::Plan& plan) {
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
  device.device_count = 1;
  for (const int64_t size : plan.mesh()) {
    device.device_count *= static_cast<int>(size);
  }
  return device;
}

v1::PlanRequest RestoreRequest(const v1::Plan& plan, std::string hlo_module) {
  v1::PlanRequest request;
  request.set_hlo_module(std::move(hlo_module));
  request.set_model_name(plan.model().name());
  *request.mutable_mesh()->mutable_shape() = plan.mesh();
  request.set_device_memory_bytes(plan.limit_bytes());
  *request.mutable_strategies() = plan.strategies();
  if (!plan.has_pipeline()) return request;
  v1::StageRequest& stages = *request.mutable_stages();
  const v1::PlanPipeline& pipeline = plan.pipeline();
  stages.set_micro_batches(pipeline.micro_batches());
  stages.set_no_overlap(!pipeline.overlap());
  // A schedule that the request names is tried alone.
  if (pipeline.tried_size() == 1) stages.set_schedule(pipeline.schedule());
  stages.set_host_bytes_per_second(pipeline.host_bytes_per_second());
  if (!pipeline.device_as_host()) {
    stages.set_device_bytes_per_second(pipeline.device_bytes_per_second());
  }
  return request;
}

absl::StatusOr<planning::MeasuredStep> RecallStep(
    v1::PlanRequest request, const jobs::DeviceDescription& device,
    store::ProfileStore* store) {
  RETURN_IF_ERROR(ForbidMeasuring(request));
  jobs::RecordedDevice measurer(device);
  return OrMissing(request, planning::MeasureStep(request, {store, &measurer},
                                                  IgnoreProgress));
}

absl::StatusOr<v1::Plan> RecallPlan(v1::PlanRequest request,
                                    planning::MeasuredStep step,
                                    const jobs::DeviceDescription& device,
                                    store::ProfileStore* store) {
  RETURN_IF_ERROR(ForbidMeasuring(request));
  jobs::RecordedDevice measurer(device);
  return OrMissing(request,
                   planning::SearchStep(request, std::move(step),
                                        {store, &measurer}, IgnoreProgress));
}

absl::StatusOr<std::unique_ptr<stages::MeasuredMeshes>> RecallMeshes(
    v1::PlanRequest request, const jobs::DeviceDescription& device,
    store::ProfileStore* store) {
  RETURN_IF_ERROR(ForbidMeasuring(request));
  ASSIGN_OR_RETURN(request, stages::UseClusterMesh(request));
  jobs::RecordedDevice measurer(device);
  return OrMissing(request, stages::MeasureMeshes(request, {store, &measurer},
                                                  IgnoreProgress));
}

absl::StatusOr<v1::Plan> RecallStagedPlan(v1::PlanRequest request,
                                          const jobs::DeviceDescription& device,
                                          store::ProfileStore* store) {
  RETURN_IF_ERROR(ForbidMeasuring(request));
  jobs::RecordedDevice measurer(device);
  return OrMissing(request, stages::MakeStagedPlan(request, {store, &measurer},
                                                   IgnoreProgress));
}

}  // namespace meshwright::explain
