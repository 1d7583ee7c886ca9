#include "coordinator/explain/recall_stages.h"

#include <utility>

#include "base/status_macros.h"
#include "coordinator/explain/recall.h"
#include "coordinator/jobs/recorded_device.h"
#include "coordinator/stages/staged_plan.h"

namespace meshwright::explain {
namespace {

const auto kQuiet = [](const v1::PlanProgress&) {};

}  // namespace

v1::PlanRequest StagedRequestOf(const v1::Plan& plan, std::string hlo_module) {
  v1::PlanRequest request = RequestOf(plan, std::move(hlo_module));
  v1::StageRequest& stages = *request.mutable_stages();
  const v1::PlanPipeline& pipeline = plan.pipeline();
  stages.set_micro_batches(pipeline.micro_batches());
  stages.set_no_overlap(!pipeline.overlap());
  // One that was asked for was tried alone.
  if (pipeline.tried_size() == 1) stages.set_schedule(pipeline.schedule());
  stages.set_host_bytes_per_second(pipeline.host_bytes_per_second());
  if (!pipeline.device_as_host()) {
    stages.set_device_bytes_per_second(pipeline.device_bytes_per_second());
  }
  return request;
}

absl::StatusOr<std::unique_ptr<stages::MeasuredMeshes>> RecallStages(
    v1::PlanRequest request, const jobs::DeviceDescription& device,
    store::ProfileStore* store) {
  RETURN_IF_ERROR(AskStoreAlone(request));
  ASSIGN_OR_RETURN(request, stages::UseClusterMesh(request));
  jobs::RecordedDevice measurer(device);
  return IfHeld(request,
                stages::MeasureMeshes(request, {store, &measurer}, kQuiet));
}

absl::StatusOr<v1::Plan> SupposeStages(v1::PlanRequest request,
                                       const jobs::DeviceDescription& device,
                                       store::ProfileStore* store) {
  RETURN_IF_ERROR(AskStoreAlone(request));
  jobs::RecordedDevice measurer(device);
  return IfHeld(request,
                stages::MakeStagedPlan(request, {store, &measurer}, kQuiet));
}

}  // namespace meshwright::explain
