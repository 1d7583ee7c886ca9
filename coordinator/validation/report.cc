#include "coordinator/validation/report.h"

#include <limits>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "coordinator/validation/drift.h"
#include "coordinator/validation/report_figures.h"
#include "profiledb/store/row_time.h"

namespace meshwright::validation {
namespace {

// `drift` is the machine's while validating, where it is known; `other` the
// difference on other inputs, if they ran.
v1::ValidatedPlan MakeRow(const ValidationPlan& plan,
                          const v1::ProfileResult& result,
                          const std::optional<double>& other, double tolerance,
                          std::optional<double> drift) {
  v1::ValidatedPlan row;
  row.set_name(plan.name);
  if (plan.predicted) {
    row.set_predicted_seconds(plan.predicted_seconds);
    row.set_predicted_peak_bytes(plan.predicted_peak_bytes);
  }
  if (result.outcome() != v1::MEASURED) {
    row.set_failure(DescribeFailure(result));
    return row;
  }
  const v1::Measurement& measured = result.measurement();
  const double seconds = static_cast<double>(store::GetTimeNs(measured)) * 1e-9;
  row.set_measured_seconds(seconds);
  row.set_measured_median_seconds(static_cast<double>(measured.median_ns()) *
                                  1e-9);
  row.set_measured_mad_seconds(static_cast<double>(measured.mad_ns()) * 1e-9);
  if (plan.predicted) {
    std::optional<double> now;
    if (drift.has_value()) {
      row.set_drift(*drift);
      now = *drift * plan.predicted_seconds;
    }
    SetErrors(plan.predicted_seconds, now, seconds, row);
    if (!plan.planned) row.clear_error_as_planned();
  }
  row.set_measured_peak_bytes(measured.memory().peak_bytes());
  SetDifference(result.max_relative_difference(), other, tolerance, row);
  return row;
}

std::optional<double> FindDifference(const Results& results,
                                     const std::string& key) {
  const auto found = results.find(key);
  if (found == results.end() || found->second.outcome() != v1::MEASURED) {
    return std::nullopt;
  }
  return found->second.max_relative_difference();
}

}  // namespace

v1::ValidationReport MakeReport(const Validation& validation,
                                const Results& results,
                                const Results& on_others,
                                const std::string& reference) {
  const std::optional<double> drift = EstimateDrift(validation.probes, results);
  v1::ValidationReport report;
  report.set_tolerance(validation.tolerance);
  report.set_reference(reference);
  if (drift.has_value()) report.set_machine_drift(*drift);
  report.set_chosen(validation.plans.front().name);
  double best = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < validation.plans.size(); ++i) {
    const ValidationPlan& plan = validation.plans[i];
    v1::ProfileResult result;
    result.set_reason("it has no result");
    const auto found = results.find(plan.key);
    if (found != results.end()) result = found->second;
    std::optional<double> own;
    if (drift.has_value()) {
      own = EstimatePlanDrift(i, plan.predicted_seconds, validation.probes,
                              results, *drift);
    }
    v1::ValidatedPlan& row = *report.add_plans();
    row = MakeRow(plan, result, FindDifference(on_others, plan.key),
                  validation.tolerance, own);
    if (!row.has_measured_seconds() || row.measured_seconds() >= best) continue;
    best = row.measured_seconds();
    report.set_best_measured(plan.name);
  }
  return report;
}

absl::Status CheckOutputs(const v1::ValidationReport& report) {
  std::vector<std::string> names;
  for (const v1::ValidatedPlan& it : report.plans()) {
    if (it.has_max_relative_difference() &&
        Differs(it.max_relative_difference(), report.tolerance())) {
      names.push_back(it.name());
    }
  }
  if (names.empty()) return absl::OkStatus();
  return absl::InternalError(absl::StrFormat(
      "the outputs of %s differ from those of %s by more than %.0e",
      absl::StrJoin(names, ", "), report.reference(), report.tolerance()));
}

absl::Status CheckReport(const v1::ValidationReport& report) {
  if (report.plans().empty()) {
    return absl::InternalError("the validation holds no plan");
  }
  if (report.plans(0).has_failure()) {
    return absl::InternalError(absl::StrCat("the chosen plan did not run: ",
                                            report.plans(0).failure()));
  }
  return CheckOutputs(report);
}

}  // namespace meshwright::validation
