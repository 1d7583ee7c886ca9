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
  // The plan may come from anyone: its mesh is checked like one that is typed.
  const std::string mesh = absl::StrJoin(request.mesh().shape(), "x");
  RETURN_IF_ERROR(ParseMesh(mesh).status());
  request.set_no_wait(true);
  ASSIGN_OR_RETURN(request, stages::OnCluster(request));
  jobs::RecordedDevice measurer(device);
  auto step = stages::MeasureMeshes(request, {store, &measurer},
                                    [](const v1::PlanProgress&) {});
  if (!absl::IsUnavailable(step.status())) return step;
  return absl::NotFoundError(absl::StrCat(
      "the store does not hold what ", request.model_name(),
      " needs on cluster ", mesh, "; measure it with `meshwright plan --mesh ",
      mesh, " --stages`"));
}

}  // namespace meshwright::cli
