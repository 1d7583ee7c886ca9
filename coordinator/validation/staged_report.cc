#include "coordinator/validation/staged_report.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "coordinator/explain/pipeline_waits.h"
#include "coordinator/stages/planned_pipeline.h"
#include "coordinator/validation/report_figures.h"

namespace meshwright::validation {
namespace {

using launch::Pass;
using nlohmann::ordered_json;

// What was measured of one stage, by pass.
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
  times.seconds[pass] += static_cast<double>(it.minimum_ns()) * 1e-9;
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

ordered_json DescribePasses(const v1::Plan& plan, const v1::PlanStage& stage,
                            const StageTimes& times, double drift) {
  const bool delays = times.Has(Pass::kBackwardWeight);
  const double input = stage.backward_input_seconds();
  const double weight = stage.backward_weight_seconds();
  const std::vector<std::pair<Pass, double>> passes = {
      {Pass::kForward, stage.forward_seconds()},
      {Pass::kBackward,
       delays ? input : stages::GetBackwardSeconds(plan, stage)},
      {Pass::kBackwardWeight, weight},
      {Pass::kUpdate, stage.update_seconds()}};
  auto rows = ordered_json::array();
  for (const auto& [pass, predicted] : passes) {
    if (pass == Pass::kBackwardWeight && !delays) continue;
    const double measured = times.Find(pass);
    ordered_json row = {
        {"pass", launch::NamePlace({0, pass, 0})},
        {"predicted_seconds", predicted},
        {"measured_seconds", measured},
        {"error", ComputeRelativeError(predicted * drift, measured)},
        {"error_as_profiled", ComputeRelativeError(predicted, measured)}};
    const auto median = times.median_seconds.find(pass);
    row["measured_median_seconds"] =
        median == times.median_seconds.end() ? 0 : median->second;
    const auto failure = times.failures.find(pass);
    if (failure != times.failures.end()) {
      for (const char* figure :
           {"measured_seconds", "error", "error_as_profiled",
            "measured_median_seconds"}) {
        row[figure] = nullptr;
      }
      row["failure"] = failure->second;
    }
    rows.push_back(std::move(row));
  }
  return rows;
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

absl::StatusOr<ordered_json> DescribeStep(const v1::Plan& plan,
                                          const std::vector<StageTimes>& times,
                                          const std::vector<double>& drifts) {
  const double predicted = plan.pipeline().step_seconds();
  ASSIGN_OR_RETURN(const double now,
                   explain::SimulateStep(ApplyDrifts(plan, drifts)));
  ordered_json step = {{"predicted_seconds", predicted},
                       {"predicted_now_seconds", now}};
  double simulated = 0;
  if (!FindFailure(times).has_value()) {
    ASSIGN_OR_RETURN(simulated,
                     explain::SimulateStep(ReplaceByMeasured(plan, times)));
  }
  step["simulated_seconds"] =
      OrNull(simulated > 0 ? std::optional(simulated) : std::nullopt);
  step["error"] = ComputeRelativeError(now, simulated);
  step["error_as_profiled"] = ComputeRelativeError(predicted, simulated);
  return step;
}

void AddDifference(const launch::Launch& launch, const StagedResults& results,
                   double tolerance, bool failed, ordered_json& report) {
  std::vector<double> all = results.differences;
  report["tolerance"] = tolerance;
  if (failed) {  // not all were made
    all.resize(launch.results.size(), std::nan(""));
    report["outputs"] = std::count_if(
        all.begin(), all.end(), [](double it) { return !std::isnan(it); });
    std::replace_if(
        all.begin(), all.end(), [](double it) { return std::isnan(it); }, 0.0);
  } else {
    report["outputs"] = launch.results.size();
  }
  std::optional<double> other;
  if (!results.other_differences.empty()) {
    other = Largest(results.other_differences);
  }
  WriteDifference(Largest(all), other, tolerance, report);
  const auto worst = std::max_element(all.begin(), all.end());
  if (worst != all.end()) {
    report["worst_output"] = launch.results[worst - all.begin()].output;
  }
}

}  // namespace

double Largest(const std::vector<double>& differences) {
  double largest = 0;
  for (const double it : differences) {
    largest = std::isnan(it) ? std::numeric_limits<double>::infinity()
                             : std::max(largest, it);
  }
  return largest;
}

absl::StatusOr<ordered_json> StagedReport(const v1::Plan& plan,
                                          const launch::Launch& launch,
                                          const StagedResults& results,
                                          double tolerance) {
  const std::vector<StageTimes> times = CollectTimes(plan, launch, results);
  const StagedDrift drift =
      EstimateStageDrifts(plan, results.anchors, results.modules);
  ordered_json report;
  report["micro_batches"] = launch.micro_batches;
  report["schedule"] = plan.pipeline().schedule();
  report["stages"] = ordered_json::array();
  for (int i = 0; i < plan.stages_size(); ++i) {
    const v1::PlanStage& stage = plan.stages(i);
    report["stages"].push_back(
        {{"mesh", stage.mesh()},
         {"drift", drift.machine.has_value() ? ordered_json(drift.stages[i])
                                             : ordered_json(nullptr)},
         {"passes", DescribePasses(plan, stage, times[i], drift.stages[i])},
         {"measured_peak_bytes", times[i].peak_bytes}});
  }
  report["machine_drift"] = OrNull(drift.machine);
  ASSIGN_OR_RETURN(report["step"], DescribeStep(plan, times, drift.stages));
  report["reference"] = launch.micro_batches == 1 ? "model" : "one stage";
  const std::optional<std::string> failure = FindFailure(times);
  AddDifference(launch, results, tolerance, failure.has_value(), report);
  if (failure.has_value()) report["failure"] = *failure;
  return report;
}

}  // namespace meshwright::validation
