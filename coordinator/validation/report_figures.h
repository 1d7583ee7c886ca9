// Figures that the reports of a validation share.
#ifndef MESHWRIGHT_COORDINATOR_VALIDATION_REPORT_FIGURES_H_
#define MESHWRIGHT_COORDINATOR_VALIDATION_REPORT_FIGURES_H_

#include <cmath>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/v1/job.pb.h"

namespace meshwright::validation {

// Sets `error_as_planned`, of the prediction relative to the measured time, and
// `error_now`, of the prediction for the machine as it is while validating.
// Sets neither without a measured time.
template <typename Row>
void SetErrors(double predicted, std::optional<double> predicted_now,
               double measured, Row& row) {
  if (measured <= 0) return;
  row.set_error_as_planned(predicted / measured - 1);
  if (predicted_now.has_value()) {
    row.set_error_now(*predicted_now / measured - 1);
  }
}

// An output that differs by more is a failure of the plan; NaN differs.
inline bool Differs(double difference, double tolerance) {
  return !(difference <= tolerance);
}

// "CRASHED: signal 11", of a program that was not measured.
inline std::string DescribeFailure(const v1::ProfileResult& result) {
  return absl::StrCat(v1::Outcome_Name(result.outcome()), ": ",
                      result.reason());
}

// Sets the difference on the first inputs, and that on other inputs instead
// where it is within the tolerance: the first met a kink (other_inputs.h). No
// kink makes an infinity or NaN where the reference has a number.
template <typename Row>
void SetDifference(double first, std::optional<double> other, double tolerance,
                   Row& row) {
  row.set_max_relative_difference(first);
  if (!std::isfinite(first) || !other.has_value() ||
      Differs(*other, tolerance)) {
    return;
  }
  row.set_difference_on_first_inputs(first);
  row.set_max_relative_difference(*other);
}

}  // namespace meshwright::validation

#endif  // MESHWRIGHT_COORDINATOR_VALIDATION_REPORT_FIGURES_H_
