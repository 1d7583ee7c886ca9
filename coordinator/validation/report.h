// The report of a validation (docs/formats/validate.md).
// Errors: CheckOutputs gives kInternal, naming the plans that ran and whose
// outputs differ from the reference by more than the tolerance. CheckReport
// gives the same, and kInternal where the chosen plan did not run.
#ifndef MESHWRIGHT_COORDINATOR_VALIDATION_REPORT_H_
#define MESHWRIGHT_COORDINATOR_VALIDATION_REPORT_H_

#include <string>

#include "absl/status/status.h"
#include "coordinator/validation/prepare.h"
#include "coordinator/validation/reference.h"
#include "proto/v1/job.pb.h"
#include "proto/v1/reports.pb.h"

namespace meshwright::validation {

// `on_others`: of those that were run again (other_inputs.h). `reference`: what
// the outputs are compared with (reference.h).
v1::ValidationReport MakeReport(const Validation& validation,
                                const Results& results,
                                const Results& on_others,
                                const std::string& reference = kOneDevice);

// Whether the outputs of all plans that ran are within the tolerance.
absl::Status CheckOutputs(const v1::ValidationReport& report);
// And whether the chosen plan ran.
absl::Status CheckReport(const v1::ValidationReport& report);

}  // namespace meshwright::validation

#endif  // MESHWRIGHT_COORDINATOR_VALIDATION_REPORT_H_
