// The report of a validation of a plan with stages (docs/formats/validate.md).
#ifndef MESHWRIGHT_COORDINATOR_VALIDATION_STAGED_REPORT_H_
#define MESHWRIGHT_COORDINATOR_VALIDATION_STAGED_REPORT_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/launch/launch.h"
#include "coordinator/validation/staged_drift.h"
#include "proto/v1/job.pb.h"
#include "proto/v1/plan.pb.h"
#include "proto/v1/reports.pb.h"

namespace meshwright::validation {

struct StagedResults {
  std::map<std::string, v1::ProfileResult> modules;  // and probes, by key
  std::vector<Probe> probes;
  std::vector<double> differences;        // by result of the launch; NaN: none
  std::vector<double> other_differences;  // on other inputs, where they ran
};

// The largest; NaN counts as infinite.
double FindLargest(const std::vector<double>& differences);

// `failure` is in it where a module did not run. Errors: kInvalidArgument where
// the plan's stages are no pipeline.
absl::StatusOr<v1::StagedValidationReport> MakeStagedReport(
    const v1::Plan& plan, const launch::Launch& launch,
    const StagedResults& results, double tolerance);

// kInternal where a module did not run, or results differ by more than the
// tolerance.
absl::Status CheckOutputs(const v1::StagedValidationReport& report);

}  // namespace meshwright::validation

#endif  // MESHWRIGHT_COORDINATOR_VALIDATION_STAGED_REPORT_H_
