// What `what-if` asks: a plan or model, and what shall be otherwise.
//
// Concept: where the store holds all that the new question needs (another
// memory limit; another mesh that was measured too), the answer is the plan
// that `plan --no-wait` gives. Otherwise the step is told from a measured mesh
// (coordinator/explain/what_if.h): the plan's own, or, for a model, the nearest
// that the store knows, by halving and doubling axes of the mesh asked for.
// Errors: those of recall.h and of the estimates; kInvalidArgument for a mesh
// or device count that does not go with the plan's.
#ifndef MESHWRIGHT_COORDINATOR_EXPLAIN_SUPPOSE_H_
#define MESHWRIGHT_COORDINATOR_EXPLAIN_SUPPOSE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/estimation/link_table.h"
#include "coordinator/jobs/measurer.h"
#include "profiledb/store/profile_store.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::explain {

// The mesh with another number of devices: its last axis of more than one is
// made longer or shorter; a mesh of one device grows along its last axis.
absl::StatusOr<v1::MeshSpec> MeshOfDevices(const v1::MeshSpec& mesh,
                                           int64_t devices);

// Meshes that might have been measured, the nearest first: up to three steps of
// halving or doubling one axis. No axis of several devices becomes one, nor the
// other way round.
std::vector<v1::MeshSpec> MeshesNear(const v1::MeshSpec& mesh);

struct WhatIfQuestion {
  v1::PlanRequest request;  // what is asked for
  std::optional<estimation::LinkTable> links;
  std::vector<v1::MeshSpec> measured;  // meshes to tell from, the nearest first
  jobs::DeviceDescription device;
};

absl::StatusOr<v1::Plan> AnswerWhatIf(const WhatIfQuestion& question,
                                      store::ProfileStore* store);

}  // namespace meshwright::explain

#endif  // MESHWRIGHT_COORDINATOR_EXPLAIN_SUPPOSE_H_
