// RecallStages: the step of a plan with stages from what a store knows of it;
// nothing is measured and no device is opened (recall.h).
//
// Errors: those of recall.h and of stages::MeasureMeshes.
#ifndef MESHWRIGHT_COORDINATOR_EXPLAIN_RECALL_STAGES_H_
#define MESHWRIGHT_COORDINATOR_EXPLAIN_RECALL_STAGES_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "coordinator/jobs/measurer.h"
#include "coordinator/stages/measured_meshes.h"
#include "profiledb/store/profile_store.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::explain {

// The request that the plan is an answer to.
v1::PlanRequest StagedRequestOf(const v1::Plan& plan, std::string hlo_module);

// The step on every mesh of the cluster.
absl::StatusOr<std::unique_ptr<stages::MeasuredMeshes>> RecallStages(
    v1::PlanRequest request, const jobs::DeviceDescription& device,
    store::ProfileStore* store);

// The plan that `plan --stages --no-wait` gives; `request` is that of a plan,
// with what shall be otherwise.
absl::StatusOr<v1::Plan> SupposeStages(v1::PlanRequest request,
                                       const jobs::DeviceDescription& device,
                                       store::ProfileStore* store);

}  // namespace meshwright::explain

#endif  // MESHWRIGHT_COORDINATOR_EXPLAIN_RECALL_STAGES_H_
