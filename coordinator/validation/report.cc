#include "coordinator/validation/report.h"

#include <cmath>
#include <optional>

#include "coordinator/validation/drift.h"
#include "coordinator/validation/report_figures.h"

namespace meshwright::validation {
namespace {

using nlohmann::ordered_json;

// `drift` corrects the prediction for the machine's speed during the
// validation; `other` is the difference on other inputs, if they ran.
ordered_json MakeRow(const ValidationPlan& plan,
                     const v1::ProfileResult& result,
                     const std::optional<double>& other, double tolerance,
                     double drift) {
  ordered_json row = {{"name", plan.name}};
  for (const char* figure :
       {"predicted_seconds", "measured_seconds", "measured_median_seconds",
        "measured_mad_seconds", "error", "error_as_profiled", "drift",
        "predicted_peak_bytes", "measured_peak_bytes",
        "max_relative_difference"}) {
    row[figure] = nullptr;
  }
  if (plan.predicted) {
    row["predicted_seconds"] = plan.predicted_seconds;
    row["predicted_peak_bytes"] = plan.predicted_peak_bytes;
  }
  if (result.outcome() != v1::MEASURED) {
    row["failure"] = DescribeFailure(result);
    return row;
  }
  const v1::Measurement& measured = result.measurement();
  const double seconds = static_cast<double>(measured.minimum_ns()) * 1e-9;
  row["measured_seconds"] = seconds;
  row["measured_median_seconds"] =
      static_cast<double>(measured.median_ns()) * 1e-9;
  row["measured_mad_seconds"] = static_cast<double>(measured.mad_ns()) * 1e-9;
  if (plan.predicted) {
    row["error"] =
        ComputeRelativeError(drift * plan.predicted_seconds, seconds);
    row["error_as_profiled"] =
        ComputeRelativeError(plan.predicted_seconds, seconds);
    row["drift"] = drift;
  }
  row["measured_peak_bytes"] = measured.memory().peak_bytes();
  WriteDifference(result.max_relative_difference(), other, tolerance, row);
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

ordered_json ValidationReport(const Validation& validation,
                              const Results& results,
                              const Results& on_others) {
  const std::optional<double> drift = Drift(validation.anchors, results);
  ordered_json report;
  report["tolerance"] = validation.tolerance;
  report["machine_drift"] = OrNull(drift);
  report["plans"] = ordered_json::array();
  report["chosen"] = validation.plans.front().name;
  report["best_measured"] = nullptr;
  double best = 0;
  for (size_t i = 0; i < validation.plans.size(); ++i) {
    const ValidationPlan& plan = validation.plans[i];
    v1::ProfileResult result;
    result.set_reason("it has no result");
    const auto found = results.find(plan.key);
    if (found != results.end()) result = found->second;
    ordered_json row = MakeRow(
        plan, result, FindDifference(on_others, plan.key), validation.tolerance,
        EstimatePlanDrift(i, plan.predicted_seconds, validation.anchors,
                          results, drift.value_or(1)));
    if (row["measured_seconds"].is_number()) {
      const double seconds = row["measured_seconds"];
      if (report["best_measured"].is_null() || seconds < best) {
        best = seconds;
        report["best_measured"] = plan.name;
      }
    }
    report["plans"].push_back(std::move(row));
  }
  return report;
}

}  // namespace meshwright::validation
