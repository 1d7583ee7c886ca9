// The drift (drift.h) of a validation of stages, a stage in the place of a
// plan.
//
// Concept: the programs of a stage's segments, profiled whole, are timed again
// beside the modules that run its passes. A stage's drift is that of one pass
// of all its segments and an update.
// Errors: those of RecallMeshes.
#ifndef MESHWRIGHT_COORDINATOR_VALIDATION_STAGED_DRIFT_H_
#define MESHWRIGHT_COORDINATOR_VALIDATION_STAGED_DRIFT_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/validation/drift.h"
#include "profiledb/store/profile_store.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::validation {

absl::StatusOr<std::vector<Probe>> ChooseStageProbes(
    const std::string& hlo_module, const v1::Plan& plan,
    store::ProfileStore* store);

struct StagedDrift {
  std::optional<double> machine;  // none: nothing was timed again
  std::vector<double> stages;     // 1 each, then
};

StagedDrift EstimateStageDrifts(
    const v1::Plan& plan, const std::vector<Probe>& probes,
    const std::map<std::string, v1::ProfileResult>& results);

}  // namespace meshwright::validation

#endif  // MESHWRIGHT_COORDINATOR_VALIDATION_STAGED_DRIFT_H_
