#include "cli/recall_stages.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "cli/arguments.h"
#include "cli/recall.h"
#include "coordinator/jobs/recorded_device.h"
#include "coordinator/stages/staged_plan.h"

namespace meshwright::cli {
namespace {

constexpr int kMostDigits = 15;
constexpr double kResolution = 2e-12;  // of the seconds in a plan, both ends

// The roundest bandwidth at which the send takes what it took.
double BandwidthOf(const v1::PlanSend& send) {
  const double seconds = send.end_seconds() - send.start_seconds();
  if (seconds <= 0) return 0;
  const auto bytes = static_cast<double>(send.size_bytes());
  for (int digits = 1; digits < kMostDigits; ++digits) {
    const double round =
        std::stod(absl::StrFormat("%.*e", digits - 1, bytes / seconds));
    if (std::abs(bytes / round - seconds) <= kResolution) return round;
  }
  return bytes / seconds;
}

// The largest send tells most.
void TakeBandwidths(const v1::Plan& plan, v1::StageRequest& stages) {
  int64_t largest[2] = {0, 0};
  for (const v1::PlanBoundary& boundary : plan.boundaries()) {
    for (const auto* transfer : {&boundary.forward(), &boundary.backward()}) {
      for (const v1::PlanSend& send : transfer->order()) {
        int64_t& most = largest[boundary.within_host() ? 1 : 0];
        if (send.size_bytes() <= most) continue;
        most = send.size_bytes();
        const double bandwidth = BandwidthOf(send);
        if (boundary.within_host()) {
          stages.set_device_bytes_per_second(bandwidth);
        } else {
          stages.set_host_bytes_per_second(bandwidth);
        }
      }
    }
  }
}

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
  TakeBandwidths(plan, stages);
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
