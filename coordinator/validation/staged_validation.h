// StagedValidation: a plan with stages run for real, stage after stage.
//
// Concept: the modules that `export` writes run in the order of the schedule,
// every micro-batch. Tensors go from stage to stage through the host. The
// outputs are compared with those of one device that runs the whole step on the
// same inputs. With one micro-batch that is the model as it came; with several,
// the step as one stage without sharding, its gradients added up alike. All
// stages run on the same devices, one after the other. A pipeline whose stages
// work at once cannot be timed so. Each module is timed by itself, and the step
// is simulated from these times. Probes (staged_drift.h) are timed beside them.
// A module that does not run, and what reads what it makes, is a row with its
// reason.
// In -> Out: a model, a plan with stages -> its report
// (docs/formats/validate.md).
// Errors: kInvalidArgument for meshes that do not fit together; those of
// launch::MakeLaunch and of the runner.
#ifndef MESHWRIGHT_COORDINATOR_VALIDATION_STAGED_VALIDATION_H_
#define MESHWRIGHT_COORDINATOR_VALIDATION_STAGED_VALIDATION_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/validation/drift.h"
#include "coordinator/validation/staged_report.h"
#include "proto/v1/job.pb.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::validation {

// The meshes of a plan that may come from anyone.
absl::Status CheckMeshes(const v1::Plan& plan);

// Of the largest stage.
int CountStageDevices(const v1::Plan& plan);

// Runs a batch and gives what came of it; the caller knows the worker.
using SequenceRunner =
    std::function<absl::StatusOr<StagedResults>(const v1::RunnerRequest&)>;

absl::StatusOr<v1::StagedValidationReport> ValidateStages(
    const std::string& hlo_module, const v1::Plan& plan,
    const std::vector<Probe>& probes, const v1::DeviceSpec& device,
    const SequenceRunner& run);

}  // namespace meshwright::validation

#endif  // MESHWRIGHT_COORDINATOR_VALIDATION_STAGED_VALIDATION_H_
