#include "coordinator/planning/plan_metadata.h"

#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"

namespace meshwright::planning {
namespace {

constexpr int kSchemaVersion = 1;

}  // namespace

v1::Plan BeginPlan(const v1::PlanRequest& request, const space::Mesh& mesh) {
  v1::Plan plan;
  plan.set_schema_version(kSchemaVersion);
  plan.mutable_model()->set_fingerprint(base::Sha256Hex(request.hlo_module()));
  plan.mutable_model()->set_name(request.model_name());
  for (int64_t size : mesh) plan.add_mesh(size);
  *plan.mutable_strategies() = request.strategies();
  plan.set_limit_bytes(request.device_memory_bytes());
  return plan;
}

void SetDevice(const jobs::DeviceDescription& device, v1::Plan& plan) {
  plan.set_device(device.device_kind == device.platform
                      ? device.platform
                      : absl::StrCat(device.platform, " ", device.device_kind));
  plan.set_platform_version(device.platform_version);
}

void NoteMinimumMemory(int64_t bytes, v1::Plan& plan) {
  plan.set_least_memory_bytes(bytes);
  plan.add_notes(absl::StrCat("no plan fits ", plan.limit_bytes(),
                              " bytes per device; the least-memory plan needs ",
                              bytes));
}

}  // namespace meshwright::planning
