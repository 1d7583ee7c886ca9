// What a validation found (docs/formats/validate.md).
#ifndef MESHWRIGHT_COORDINATOR_VALIDATION_REPORT_H_
#define MESHWRIGHT_COORDINATOR_VALIDATION_REPORT_H_

#include <map>
#include <string>

#include "coordinator/validation/prepare.h"
#include "proto/v1/job.pb.h"
#include "proto/v1/reports.pb.h"

namespace meshwright::validation {

// By key of their programs.
using Results = std::map<std::string, v1::ProfileResult>;

// `on_others`: of those that were run again (other_inputs.h).
v1::ValidationReport MakeReport(const Validation& validation,
                                const Results& results,
                                const Results& on_others);

}  // namespace meshwright::validation

#endif  // MESHWRIGHT_COORDINATOR_VALIDATION_REPORT_H_
