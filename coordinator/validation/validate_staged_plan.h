// ValidateStagedPlan: what a validation of a plan with stages does, wherever
// its modules run.
//
// Concept: chooses the probes from the store, runs the stages
// (staged_validation.h), hands out the report, and keeps what was measured
// again as evidence (evidence.h).
// In -> Out: a model, a plan with stages -> its report, through the callback.
// Threads: one. Errors: kInvalidArgument for meshes that are none; those of
// ValidateStages, of `describe` and of the store.
#ifndef MESHWRIGHT_COORDINATOR_VALIDATION_VALIDATE_STAGED_PLAN_H_
#define MESHWRIGHT_COORDINATOR_VALIDATION_VALIDATE_STAGED_PLAN_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/validation/staged_validation.h"
#include "profiledb/store/profile_store.h"
#include "proto/v1/device.pb.h"
#include "proto/v1/plan.pb.h"
#include "proto/v1/reports.pb.h"

namespace meshwright::validation {

struct StagedRun {
  SequenceRunner run;
  // The devices that it ran on, asked afterwards.
  std::function<absl::StatusOr<v1::DeviceFingerprint>()> describe;
  std::function<void(const std::string&)> note;  // for people
  std::function<void(const v1::StagedValidationReport&)> report;
};

// `device`: its platform and plugin.
absl::Status ValidateStagedPlan(const std::string& hlo_module,
                                const v1::Plan& plan, v1::DeviceSpec device,
                                store::ProfileStore* store,
                                const StagedRun& staged);

}  // namespace meshwright::validation

#endif  // MESHWRIGHT_COORDINATOR_VALIDATION_VALIDATE_STAGED_PLAN_H_
