// WhatIf: the plan for a changed request, from a store; nothing is measured.
//
// Concept: the changed request has another memory limit or mesh. If the store
// holds all of its measurements, the answer is the plan that `plan --no-wait`
// gives. Otherwise the step is estimated from a measured mesh. For a plan this
// is its own mesh. For a model it is the nearest one in the store, by halving
// and doubling axes of the asked mesh.
//   To estimate a step, the space of the new mesh is built as for a plan.
//   Programs with measurements count as they are. Every other program is
// matched to one of the measured mesh, and estimated from it. It matches the
// same segment with the same configuration, or the same boundary between the
// same two. A link table replaces the communication of measured programs, too.
// In -> Out: a request and the meshes to estimate from -> a plan.
// Errors: kInvalidArgument for a mesh or device count that does not fit the
// plan's mesh. kFailedPrecondition if nothing determines an estimate: an axis
// grows from one device, or the measured mesh lacks a segment. kNotFound if the
// store lacks measurements; those of recall.h. Each says what to measure.
#ifndef MESHWRIGHT_COORDINATOR_EXPLAIN_WHAT_IF_H_
#define MESHWRIGHT_COORDINATOR_EXPLAIN_WHAT_IF_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/link.h"
#include "coordinator/jobs/measurer.h"
#include "coordinator/planning/measured_step.h"
#include "profiledb/store/profile_store.h"
#include "proto/v1/plan.pb.h"
#include "proto/v1/reports.pb.h"

namespace meshwright::explain {

// The step of `request` as if it were measured; its rows say which of them are
// estimates. `known` is of the same model and strategies as `request`; `links`
// are those of the request's mesh.
absl::StatusOr<planning::MeasuredStep> EstimateStep(
    const planning::MeasuredStep& known, const v1::PlanRequest& request,
    const std::optional<base::Links>& links, store::ProfileStore* store);

// The mesh with another number of devices. Its last axis of more than one
// device is made longer or shorter; a mesh of one device grows along its last
// axis.
absl::StatusOr<v1::MeshSpec> ResizeMesh(const v1::MeshSpec& mesh,
                                        int64_t devices);

// Meshes that may be measured, nearest first: up to three steps of halving or
// doubling one axis. No axis of several devices becomes one, nor the other way
// round.
std::vector<v1::MeshSpec> ListMeshesNear(const v1::MeshSpec& mesh);

struct WhatIfQuestion {
  v1::PlanRequest request;  // what is asked for
  std::optional<base::Links> links;
  std::vector<v1::MeshSpec> measured;  // to estimate from, nearest first
  jobs::DeviceDescription device;
};

absl::StatusOr<v1::Plan> AnswerWhatIf(const WhatIfQuestion& question,
                                      store::ProfileStore* store);

// Sets what `change` does. Errors: kInvalidArgument.
absl::Status ApplyChange(const v1::WhatIfChange& change,
                         v1::PlanRequest& request);

// The question about a plan that is estimated from its own mesh. The plan may
// come from anyone.
absl::StatusOr<WhatIfQuestion> AskOfPlan(const v1::Plan& plan,
                                         std::string hlo_module);

// The plan of the changed request, with or without stages.
absl::StatusOr<v1::Plan> AnswerChange(const v1::Plan& plan,
                                      std::string hlo_module,
                                      const v1::WhatIfChange& change,
                                      store::ProfileStore* store);

}  // namespace meshwright::explain

#endif  // MESHWRIGHT_COORDINATOR_EXPLAIN_WHAT_IF_H_
