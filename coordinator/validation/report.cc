#include "coordinator/validation/report.h"

#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "coordinator/validation/drift.h"

namespace meshwright::validation {
namespace {

using nlohmann::ordered_json;

// `drift` corrects what is predicted for the machine's speed of now.
ordered_json Row(const ValidationPlan& plan, const v1::ProfileResult& result,
                 double drift) {
  ordered_json row;
  row["name"] = plan.name;
  row["predicted_seconds"] = nullptr;
  row["measured_seconds"] = nullptr;
  row["measured_median_seconds"] = nullptr;
  row["measured_mad_seconds"] = nullptr;
  row["error"] = nullptr;
  row["error_as_profiled"] = nullptr;
  row["drift"] = nullptr;
  row["predicted_peak_bytes"] = nullptr;
  row["measured_peak_bytes"] = nullptr;
  row["max_relative_difference"] = nullptr;
  if (plan.predicted) {
    row["predicted_seconds"] = plan.predicted_seconds;
    row["predicted_peak_bytes"] = plan.predicted_peak_bytes;
  }
  if (result.outcome() != v1::MEASURED) {
    row["failure"] =
        absl::StrCat(v1::Outcome_Name(result.outcome()), ": ", result.reason());
    return row;
  }
  const v1::Measurement& measured = result.measurement();
  const double seconds = static_cast<double>(measured.minimum_ns()) * 1e-9;
  row["measured_seconds"] = seconds;
  row["measured_median_seconds"] =
      static_cast<double>(measured.median_ns()) * 1e-9;
  row["measured_mad_seconds"] = static_cast<double>(measured.mad_ns()) * 1e-9;
  if (plan.predicted) {
    const double ratio = seconds > 0 ? plan.predicted_seconds / seconds : 1;
    row["error"] = drift * ratio - 1;
    row["error_as_profiled"] = ratio - 1;
    row["drift"] = drift;
  }
  row["measured_peak_bytes"] = measured.memory().peak_bytes();
  row["max_relative_difference"] = result.max_relative_difference();
  return row;
}

// A plan that differs little on other inputs met a kink of the step.
void Settle(const ValidationPlan& plan, const Results& on_others,
            double tolerance, ordered_json& row) {
  const auto found = on_others.find(plan.key);
  if (found == on_others.end() || found->second.outcome() != v1::MEASURED ||
      !row["max_relative_difference"].is_number()) {
    return;
  }
  const double other = found->second.max_relative_difference();
  if (!(other <= tolerance)) return;
  row["difference_on_first_inputs"] = row["max_relative_difference"];
  row["max_relative_difference"] = other;
}

}  // namespace

ordered_json ValidationReport(const Validation& validation,
                              const Results& results,
                              const Results& on_others) {
  const std::optional<double> drift = Drift(validation.anchors, results);
  ordered_json report;
  report["tolerance"] = validation.tolerance;
  report["machine_drift"] = nullptr;
  if (drift.has_value()) report["machine_drift"] = *drift;
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
    ordered_json row =
        Row(plan, result,
            DriftOf(i, plan.predicted_seconds, validation.anchors, results,
                    drift.value_or(1)));
    Settle(plan, on_others, validation.tolerance, row);
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
