#include "coordinator/validation/report_figures.h"

#include "absl/strings/str_cat.h"

namespace meshwright::validation {

using nlohmann::ordered_json;

ordered_json OrNull(const std::optional<double>& figure) {
  return figure.has_value() ? ordered_json(*figure) : ordered_json(nullptr);
}

ordered_json ComputeRelativeError(double predicted, double measured) {
  if (measured <= 0) return nullptr;
  return predicted / measured - 1;
}

std::string DescribeFailure(const v1::ProfileResult& result) {
  return absl::StrCat(v1::Outcome_Name(result.outcome()), ": ",
                      result.reason());
}

void WriteDifference(double first, std::optional<double> other,
                     double tolerance, ordered_json& row) {
  row["max_relative_difference"] = first;
  if (!other.has_value() || !(*other <= tolerance)) return;
  row["difference_on_first_inputs"] = first;
  row["max_relative_difference"] = *other;
}

}  // namespace meshwright::validation
