// Figures that the reports of a validation share.
#ifndef MESHWRIGHT_COORDINATOR_VALIDATION_REPORT_FIGURES_H_
#define MESHWRIGHT_COORDINATOR_VALIDATION_REPORT_FIGURES_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "proto/v1/job.pb.h"

namespace meshwright::validation {

nlohmann::ordered_json OrNull(const std::optional<double>& figure);

// (predicted - measured) / measured; null without a measured time.
nlohmann::ordered_json ComputeRelativeError(double predicted, double measured);

// "CRASHED: signal 11", of a program that was not measured.
std::string DescribeFailure(const v1::ProfileResult& result);

// Writes the difference on the first inputs, and that on other inputs instead
// where it is within the tolerance: the first met a kink (other_inputs.h).
void WriteDifference(double first, std::optional<double> other,
                     double tolerance, nlohmann::ordered_json& row);

}  // namespace meshwright::validation

#endif  // MESHWRIGHT_COORDINATOR_VALIDATION_REPORT_FIGURES_H_
