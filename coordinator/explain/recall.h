// Recall: the request and the step of a plan, from what a store holds.
//
// Concept: the store keeps every model that was planned, by the key of its
// bytes that its plans name. A plan names the device and plugin of its
// measurements. So a plan and a store are enough to search again. Nothing is
// measured and no device is opened.
// Errors: kInvalidArgument for another model than the plan's, an invalid mesh,
// or a plan that was not measured or does not name its plugin. kNotFound for a
// store without the model or the measurements. Each is one sentence that says
// the way out.
#ifndef MESHWRIGHT_COORDINATOR_EXPLAIN_RECALL_H_
#define MESHWRIGHT_COORDINATOR_EXPLAIN_RECALL_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "coordinator/jobs/measurer.h"
#include "coordinator/planning/plan_pipeline.h"
#include "coordinator/stages/measured_meshes.h"
#include "profiledb/store/profile_store.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::explain {

// kInvalidArgument for a plan by roofline or a baseline: no store has its
// measurements.
absl::Status CheckMeasured(const v1::Plan& plan);

// The bytes of the plan's model, which the store holds.
absl::StatusOr<std::string> RecallModel(const v1::Plan& plan,
                                        store::ProfileStore* store);

// Whether `model` is the plan's; `path` names it in the error.
absl::Status CheckModel(const v1::Plan& plan, const std::string& model,
                        const std::string& path);

// The device and plugin of the plan's measurements.
absl::StatusOr<jobs::DeviceDescription> ReadDevice(const v1::Plan& plan);

absl::StatusOr<planning::MeasuredStep> RecallStep(
    const v1::PlanRequest& request, const jobs::DeviceDescription& device,
    store::ProfileStore* store);

// The plan's own step, and what the plan chooses in it; a plan on one mesh.
struct RecalledPlan {
  planning::MeasuredStep step;
  space::SegmentChoice choice;
};
absl::StatusOr<RecalledPlan> RecallChoice(const v1::Plan& plan,
                                          std::string hlo_module,
                                          store::ProfileStore* store);

// The plan that `plan --no-wait` gives, with what it opens where memory is
// short.
absl::StatusOr<v1::Plan> RecallPlan(const v1::PlanRequest& request,
                                    const jobs::DeviceDescription& device,
                                    store::ProfileStore* store);

// Of a request with stages: the step on every mesh of the cluster.
absl::StatusOr<std::unique_ptr<stages::MeasuredMeshes>> RecallMeshes(
    const v1::PlanRequest& request, const jobs::DeviceDescription& device,
    store::ProfileStore* store);

// Of a request with stages: the plan that `plan --stages --no-wait` gives.
absl::StatusOr<v1::Plan> RecallStagedPlan(const v1::PlanRequest& request,
                                          const jobs::DeviceDescription& device,
                                          store::ProfileStore* store);

}  // namespace meshwright::explain

#endif  // MESHWRIGHT_COORDINATOR_EXPLAIN_RECALL_H_
