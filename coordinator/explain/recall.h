// Recall: a plan's step from what a store knows of it; nothing is measured and
// no device is opened.
//
// Concept: the store keeps every model that was planned, by the fingerprint
// that its plans name, and a plan names the device and plugin of its
// measurements. So a plan and a store are enough to search again.
// Errors: kInvalidArgument or kNotFound, in one sentence that says the way out:
// a store without the model, another model than the plan's, a plan of a version
// that does not name its plugin, measurements that are not there.
#ifndef MESHWRIGHT_COORDINATOR_EXPLAIN_RECALL_H_
#define MESHWRIGHT_COORDINATOR_EXPLAIN_RECALL_H_

#include <string>

#include "absl/status/statusor.h"
#include "coordinator/jobs/measurer.h"
#include "coordinator/planning/plan_pipeline.h"
#include "profiledb/store/profile_store.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::explain {

// The bytes of the plan's model, which the store holds.
absl::StatusOr<std::string> RecallModel(const v1::Plan& plan,
                                        store::ProfileStore* store);
// Whether `model` is the plan's; `path` names it in the error.
absl::Status CheckModel(const v1::Plan& plan, const std::string& model,
                        const std::string& path);

// What the plan was measured on.
absl::StatusOr<jobs::DeviceDescription> DeviceOf(const v1::Plan& plan);

// The request that the plan is an answer to.
v1::PlanRequest RequestOf(const v1::Plan& plan, std::string hlo_module);

// Makes a request of one that nothing is measured for. A plan may come from
// anyone: its mesh is checked like one that is typed.
absl::Status AskStoreAlone(v1::PlanRequest& request);

// kNotFound: what to measure first.
absl::Status NotHeld(const v1::PlanRequest& request);

// The answer to such a request, where the store held what it takes.
template <typename T>
absl::StatusOr<T> IfHeld(const v1::PlanRequest& request,
                         absl::StatusOr<T> answer) {
  if (!absl::IsUnavailable(answer.status())) return answer;
  return NotHeld(request);
}

absl::StatusOr<planning::MeasuredStep> RecallStep(
    v1::PlanRequest request, const jobs::DeviceDescription& device,
    store::ProfileStore* store);

}  // namespace meshwright::explain

#endif  // MESHWRIGHT_COORDINATOR_EXPLAIN_RECALL_H_
