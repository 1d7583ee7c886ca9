#include "coordinator/explain/recall.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"
#include "coordinator/jobs/recorded_device.h"
#include "coordinator/space/read_request.h"

namespace meshwright::explain {

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

absl::StatusOr<jobs::DeviceDescription> DeviceOf(const v1::Plan& plan) {
  if (plan.platform_version().empty()) {
    return absl::InvalidArgumentError(
        "the plan does not name the plugin it was measured with; make it anew "
        "with `meshwright plan`, which measures nothing twice");
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

v1::PlanRequest RequestOf(const v1::Plan& plan, std::string hlo_module) {
  v1::PlanRequest request;
  request.set_hlo_module(std::move(hlo_module));
  request.set_model_name(plan.model().name());
  for (const int64_t size : plan.mesh()) {
    request.mutable_mesh()->add_shape(size);
  }
  request.set_device_memory_bytes(plan.limit_bytes());
  *request.mutable_strategies() = plan.strategies();
  return request;
}

absl::Status AskStoreAlone(v1::PlanRequest& request) {
  request.set_no_wait(true);
  return space::ReadMesh(request.mesh()).status();
}

absl::Status NotHeld(const v1::PlanRequest& request) {
  const std::string mesh = absl::StrJoin(request.mesh().shape(), "x");
  const bool staged = request.has_stages();
  return absl::NotFoundError(
      absl::StrCat("the store does not hold what ", request.model_name(),
                   " needs on ", staged ? "cluster " : "mesh ", mesh,
                   "; measure it with `meshwright plan --mesh ", mesh,
                   staged ? " --stages`" : "`"));
}

absl::StatusOr<planning::MeasuredStep> RecallStep(
    v1::PlanRequest request, const jobs::DeviceDescription& device,
    store::ProfileStore* store) {
  RETURN_IF_ERROR(AskStoreAlone(request));
  jobs::RecordedDevice measurer(device);
  return IfHeld(request, planning::MeasureStep(request, {store, &measurer},
                                               [](const v1::PlanProgress&) {}));
}

}  // namespace meshwright::explain
