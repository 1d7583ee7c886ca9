// ValidatePlan: a plan on one mesh run for real, from its model to its report.
//
// Concept: the whole step runs with the plan, with baselines and with random
// plans, beside the reference (prepare.h, reference.h). Plans whose outputs
// differ run once more on other inputs (other_inputs.h). Afterwards the store
// gets what was measured again (evidence.h).
// In -> Out: a request -> a report (docs/formats/validate.md). Outputs that
// differ, and a plan that did not run, stand in the report (CheckReport).
// Threads: the listener is called by one thread at a time, before the end.
// Errors: those of PrepareValidation, CompareWithFirstThatFits and the
// measurer; kInternal for a validation without a plan. After the report: those
// of RecordEvidence.
#ifndef MESHWRIGHT_COORDINATOR_VALIDATION_VALIDATE_PLAN_H_
#define MESHWRIGHT_COORDINATOR_VALIDATION_VALIDATE_PLAN_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "coordinator/jobs/measurer.h"
#include "coordinator/validation/prepare.h"
#include "profiledb/store/profile_store.h"
#include "proto/v1/reports.pb.h"

namespace meshwright::validation {

// None is empty.
struct ValidationListener {
  jobs::ProgressFunction progress;
  std::function<void(const std::string&)> note;             // for people
  std::function<void(const v1::ValidationReport&)> report;  // called once
};

absl::Status ValidatePlan(const ValidationRequest& request,
                          store::ProfileStore* store, jobs::Measurer* measurer,
                          const ValidationListener& listener);

}  // namespace meshwright::validation

#endif  // MESHWRIGHT_COORDINATOR_VALIDATION_VALIDATE_PLAN_H_
