#include "coordinator/planning/plan_metadata.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"
#include "coordinator/ir/load/module_fingerprint.h"
#include "coordinator/problem/memory_limit.h"
#include "profiledb/store/anchor_time.h"

namespace meshwright::planning {
namespace {

constexpr int kSchemaVersion = 1;

}  // namespace

v1::PlanRequest RestoreRequest(const v1::Plan& plan, std::string hlo_module) {
  v1::PlanRequest request;
  request.set_hlo_module(std::move(hlo_module));
  request.set_model_name(plan.model().name());
  *request.mutable_mesh()->mutable_shape() = plan.mesh();
  request.set_device_memory_bytes(plan.limit_bytes());
  *request.mutable_strategies() = plan.strategies();
  request.set_xla_flags(plan.xla_flags());
  request.set_solo(plan.device_fingerprint().solo());
  *request.mutable_links() = plan.links();
  request.set_platform(plan.device().substr(0, plan.device().find(' ')));
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

v1::PlanModel DescribeModel(const std::string& hlo_module) {
  v1::PlanModel model;
  model.set_fingerprint(ir::FingerprintModule(hlo_module));
  model.set_module_sha256(base::Sha256Hex(hlo_module));
  return model;
}

const std::string& GetModuleKey(const v1::PlanModel& model) {
  return model.module_sha256().empty() ? model.fingerprint()
                                       : model.module_sha256();
}

bool IsSameModel(const v1::PlanModel& a, const v1::PlanModel& b) {
  return a.fingerprint() == b.fingerprint() ||
         GetModuleKey(a) == GetModuleKey(b);
}

v1::Plan BeginPlan(const v1::PlanRequest& request, const space::Mesh& mesh) {
  v1::Plan plan;
  plan.set_schema_version(kSchemaVersion);
  *plan.mutable_model() = DescribeModel(request.hlo_module());
  plan.mutable_model()->set_name(request.model_name());
  for (int64_t size : mesh) plan.add_mesh(size);
  *plan.mutable_strategies() = request.strategies();
  plan.set_xla_flags(request.xla_flags());
  *plan.mutable_links() = request.links();
  plan.set_limit_bytes(request.device_memory_bytes());
  plan.set_usable_bytes(
      formulation::FindUsableBytes(request.device_memory_bytes()).value_or(0));
  return plan;
}

void SetDevice(const jobs::DeviceDescription& device, v1::Plan& plan) {
  plan.set_device(device.device_kind == device.platform
                      ? device.platform
                      : absl::StrCat(device.platform, " ", device.device_kind));
  plan.set_platform_version(device.platform_version);
  *plan.mutable_device_fingerprint() = device.fingerprint;
}

void NoteMinimumMemory(int64_t peak_bytes, v1::Plan& plan) {
  plan.set_least_memory_bytes(formulation::FindDeviceMemoryBytes(peak_bytes));
  plan.add_notes(
      absl::StrCat("no plan was found that fits ", plan.limit_bytes(),
                   " bytes per device; the smallest one found needs ",
                   plan.least_memory_bytes(), ", of which ",
                   formulation::kMemoryHeadroomPercent, " % stay free"));
}

void AddAnchors(const estimation::TimeBase& base,
                google::protobuf::RepeatedPtrField<v1::AnchorTime>& anchors) {
  if (!base.has_value()) return;
  v1::AnchorTime& anchor = *anchors.Add();
  anchor.set_name(store::kSpeedAnchor);
  anchor.set_minimum_ns(*base);
  anchor.set_median_ns(*base);
}

estimation::TimeBase ReadAnchors(
    const google::protobuf::RepeatedPtrField<v1::AnchorTime>& anchors) {
  v1::Measurement beside;
  *beside.mutable_anchors() = anchors;
  return store::FindAnchorTime(beside);
}

}  // namespace meshwright::planning
