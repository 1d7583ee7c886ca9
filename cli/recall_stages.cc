#include "cli/recall_stages.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "cli/arguments.h"
#include "cli/recall.h"
#include "coordinator/jobs/recorded_device.h"
#include "coordinator/stages/staged_plan.h"

namespace meshwright::cli {
namespace {

const auto kQuiet = [](const v1::PlanProgress&) {};

std::string MeshText(const v1::PlanRequest& request) {
  return absl::StrJoin(request.mesh().shape(), "x");
}

// The plan may come from anyone: its mesh is checked like one that is typed.
absl::Status Recalled(v1::PlanRequest& request) {
  request.set_no_wait(true);
  return ParseMesh(MeshText(request)).status();
}

template <typename T>
absl::StatusOr<T> Known(const v1::PlanRequest& request,
                        absl::StatusOr<T> answer) {
  if (!absl::IsUnavailable(answer.status())) return answer;
  return absl::NotFoundError(
      absl::StrCat("the store does not hold what ", request.model_name(),
                   " needs on cluster ", MeshText(request),
                   "; measure it with `meshwright plan --mesh ",
                   MeshText(request), " --stages`"));
}

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
  stages.set_device_bytes_per_second(pipeline.device_bytes_per_second());
  return request;
}

absl::StatusOr<std::unique_ptr<stages::MeasuredMeshes>> RecallStages(
    v1::PlanRequest request, const jobs::DeviceDescription& device,
    store::ProfileStore* store) {
  RETURN_IF_ERROR(Recalled(request));
  ASSIGN_OR_RETURN(request, stages::OnCluster(request));
  jobs::RecordedDevice measurer(device);
  return Known(request,
               stages::MeasureMeshes(request, {store, &measurer}, kQuiet));
}

absl::StatusOr<v1::Plan> SupposeStages(v1::PlanRequest request,
                                       const jobs::DeviceDescription& device,
                                       store::ProfileStore* store) {
  RETURN_IF_ERROR(Recalled(request));
  jobs::RecordedDevice measurer(device);
  return Known(request,
               stages::MakeStagedPlan(request, {store, &measurer}, kQuiet));
}

}  // namespace meshwright::cli
