#include "coordinator/validation/staged_report.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "coordinator/explain/pipeline_waits.h"
#include "coordinator/stages/planned_pipeline.h"
#include "coordinator/validation/report_figures.h"
#include "profiledb/store/row_time.h"

namespace meshwright::validation {
namespace {

using launch::Pass;

// The measurements of one stage, by pass.
struct StageTimes {
  std::map<Pass, double> seconds;
  std::map<Pass, double> median_seconds;
  std::map<Pass, std::string> failures;
  int64_t peak_bytes = 0;  // of a module
  bool Has(Pass pass) const {
    return seconds.contains(pass) || failures.contains(pass);
  }
  double Find(Pass pass) const {
    const auto found = seconds.find(pass);
    return found == seconds.end() ? 0 : found->second;
  }
};

void Add(const v1::ProfileResult& row, Pass pass, StageTimes& times) {
  if (row.outcome() != v1::MEASURED) {
    times.failures[pass] = DescribeFailure(row);
    return;
  }
  const v1::Measurement& it = row.measurement();
  times.seconds[pass] += static_cast<double>(store::GetTimeNs(it)) * 1e-9;
  times.median_seconds[pass] += static_cast<double>(it.median_ns()) * 1e-9;
  times.peak_bytes = std::max(times.peak_bytes, it.memory().peak_bytes());
}

std::vector<StageTimes> CollectTimes(const v1::Plan& plan,
                                     const launch::Launch& launch,
                                     const StagedResults& results) {
  std::vector<StageTimes> stages(plan.stages_size());
  for (const launch::LaunchModule& module : launch.modules) {
    const auto found = results.modules.find(module.program.key());
    if (found == results.modules.end()) continue;
    Add(found->second, module.place.pass, stages[module.place.stage]);
  }
  return stages;
}

std::optional<std::string> FindFailure(const std::vector<StageTimes>& stages) {
  for (size_t i = 0; i < stages.size(); ++i) {
    for (const auto& [pass, reason] : stages[i].failures) {
      return absl::StrCat("stage ", i + 1, " ",
                          launch::NamePlace({static_cast<int>(i), pass, 0}),
                          " did not run: ", reason);
    }
  }
  return std::nullopt;
}

void DescribePasses(const v1::Plan& plan, const v1::PlanStage& stage,
                    const StageTimes& times, std::optional<double> drift,
                    v1::ValidatedStage& out) {
  const bool delays = times.Has(Pass::kBackwardWeight);
  const double input = stage.backward_input_seconds();
  const double weight = stage.backward_weight_seconds();
  const std::vector<std::pair<Pass, double>> passes = {
      {Pass::kForward, stage.forward_seconds()},
      {Pass::kBackward,
       delays ? input : stages::GetBackwardSeconds(plan, stage)},
      {Pass::kBackwardWeight, weight},
      {Pass::kUpdate, stage.update_seconds()}};
  for (const auto& [pass, predicted] : passes) {
    if (pass == Pass::kBackwardWeight && !delays) continue;
    v1::ValidatedPass& row = *out.add_passes();
    row.set_pass(launch::NamePlace({0, pass, 0}));
    row.set_predicted_seconds(predicted);
    const auto failure = times.failures.find(pass);
    if (failure != times.failures.end()) {
      row.set_failure(failure->second);
      continue;
    }
    const double measured = times.Find(pass);
    row.set_measured_seconds(measured);
    std::optional<double> now;
    if (drift.has_value()) now = predicted * *drift;
    SetErrors(predicted, now, measured, row);
    const auto median = times.median_seconds.find(pass);
    row.set_measured_median_seconds(
        median == times.median_seconds.end() ? 0 : median->second);
  }
}

v1::Plan ReplaceByMeasured(v1::Plan plan,
                           const std::vector<StageTimes>& stages) {
  for (int i = 0; i < plan.stages_size(); ++i) {
    v1::PlanStage& stage = *plan.mutable_stages(i);
    const StageTimes& times = stages[i];
    stage.set_forward_seconds(times.Find(Pass::kForward));
    stage.set_backward_input_seconds(times.Find(Pass::kBackward));
    stage.set_backward_weight_seconds(times.Find(Pass::kBackwardWeight));
    stage.clear_backward_seconds();
    stage.set_update_seconds(times.Find(Pass::kUpdate));
  }
  return plan;
}

// As the machine is now.
v1::Plan ApplyDrifts(v1::Plan plan, const std::vector<double>& drifts) {
  for (int i = 0; i < plan.stages_size(); ++i) {
    v1::PlanStage& stage = *plan.mutable_stages(i);
    const double drift = drifts[i];
    stage.set_forward_seconds(drift * stage.forward_seconds());
    stage.set_backward_input_seconds(drift * stage.backward_input_seconds());
    stage.set_backward_weight_seconds(drift * stage.backward_weight_seconds());
    if (stage.has_backward_seconds()) {
      stage.set_backward_seconds(drift * stage.backward_seconds());
    }
    stage.set_update_seconds(drift * stage.update_seconds());
  }
  return plan;
}

absl::StatusOr<v1::ValidatedStep> DescribeStep(
    const v1::Plan& plan, const std::vector<StageTimes>& times,
    const StagedDrift& drift) {
  v1::ValidatedStep step;
  step.set_predicted_seconds(plan.pipeline().step_seconds());
  ASSIGN_OR_RETURN(const double now,
                   explain::SimulateStep(ApplyDrifts(plan, drift.stages)));
  step.set_predicted_now_seconds(now);
  if (FindFailure(times).has_value()) return step;
  ASSIGN_OR_RETURN(const double simulated,
                   explain::SimulateStep(ReplaceByMeasured(plan, times)));
  if (simulated > 0) step.set_simulated_seconds(simulated);
  std::optional<double> known;
  if (drift.machine.has_value()) known = now;
  SetErrors(step.predicted_seconds(), known, simulated, step);
  return step;
}

void AddDifference(const launch::Launch& launch, const StagedResults& results,
                   bool failed, v1::StagedValidationReport& report) {
  std::vector<double> all = results.differences;
  report.set_outputs(static_cast<int64_t>(launch.results.size()));
  if (failed) {  // not all were made
    all.resize(launch.results.size(), std::nan(""));
    report.set_outputs(std::count_if(
        all.begin(), all.end(), [](double it) { return !std::isnan(it); }));
    std::replace_if(
        all.begin(), all.end(), [](double it) { return std::isnan(it); }, 0.0);
  }
  std::optional<double> other;
  if (!results.other_differences.empty()) {
    other = FindLargest(results.other_differences);
  }
  SetDifference(FindLargest(all), other, report.tolerance(), report);
  const auto worst = std::max_element(all.begin(), all.end());
  if (worst != all.end()) {
    report.set_worst_output(launch.results[worst - all.begin()].output);
  }
}

}  // namespace

double FindLargest(const std::vector<double>& differences) {
  double largest = 0;
  for (const double it : differences) {
    largest = std::isnan(it) ? std::numeric_limits<double>::infinity()
                             : std::max(largest, it);
  }
  return largest;
}

absl::StatusOr<v1::StagedValidationReport> MakeStagedReport(
    const v1::Plan& plan, const launch::Launch& launch,
    const StagedResults& results, double tolerance) {
  const std::vector<StageTimes> times = CollectTimes(plan, launch, results);
  const StagedDrift drift =
      EstimateStageDrifts(plan, results.probes, results.modules);
  v1::StagedValidationReport report;
  report.set_micro_batches(launch.micro_batches);
  report.set_schedule(plan.pipeline().schedule());
  for (int i = 0; i < plan.stages_size(); ++i) {
    const v1::PlanStage& stage = plan.stages(i);
    v1::ValidatedStage& out = *report.add_stages();
    *out.mutable_mesh() = stage.mesh();
    std::optional<double> own;
    if (drift.machine.has_value()) own = drift.stages[i];
    if (own.has_value()) out.set_drift(*own);
    DescribePasses(plan, stage, times[i], own, out);
    out.set_measured_peak_bytes(times[i].peak_bytes);
  }
  if (drift.machine.has_value()) report.set_machine_drift(*drift.machine);
  ASSIGN_OR_RETURN(*report.mutable_step(), DescribeStep(plan, times, drift));
  report.set_reference(launch.micro_batches == 1 ? "model" : "one stage");
  report.set_tolerance(tolerance);
  const std::optional<std::string> failure = FindFailure(times);
  AddDifference(launch, results, failure.has_value(), report);
  if (failure.has_value()) report.set_failure(*failure);
  return report;
}

absl::Status CheckOutputs(const v1::StagedValidationReport& report) {
  if (report.has_failure()) return absl::InternalError(report.failure());
  if (!Differs(report.max_relative_difference(), report.tolerance())) {
    return absl::OkStatus();
  }
  return absl::InternalError(
      absl::StrFormat("output %d differs from that of one device by more than "
                      "%.0e",
                      report.worst_output(), report.tolerance()));
}

}  // namespace meshwright::validation
