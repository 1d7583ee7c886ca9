#include "cli/staged_report.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "cli/arguments.h"
#include "cli/stages_explanation.h"

namespace meshwright::cli {
namespace {

using launch::Pass;
using nlohmann::ordered_json;

// What was measured of one stage, by pass.
struct StageTimes {
  std::map<Pass, double> seconds;
  std::map<Pass, double> median_seconds;
  int64_t peak_bytes = 0;  // of a module
  bool Has(Pass pass) const { return seconds.contains(pass); }
  double Of(Pass pass) const {
    const auto found = seconds.find(pass);
    return found == seconds.end() ? 0 : found->second;
  }
};

std::vector<StageTimes> TimesOf(const v1::Plan& plan,
                                const launch::Launch& launch,
                                const StagedResults& results) {
  std::vector<StageTimes> stages(plan.stages_size());
  for (const launch::LaunchModule& module : launch.modules) {
    const auto found = results.modules.find(module.program.key());
    if (found == results.modules.end()) continue;
    const v1::Measurement& it = found->second.measurement();
    StageTimes& times = stages[module.place.stage];
    const auto add = [&](std::map<Pass, double>& to, int64_t nanoseconds) {
      to[module.place.pass] += static_cast<double>(nanoseconds) * 1e-9;
    };
    add(times.seconds, it.minimum_ns());
    add(times.median_seconds, it.median_ns());
    times.peak_bytes = std::max(times.peak_bytes, it.memory().peak_bytes());
  }
  return stages;
}

ordered_json Figures(double predicted, double measured) {
  ordered_json json = {{"predicted_seconds", predicted},
                       {"measured_seconds", measured}};
  json["error"] = nullptr;
  if (measured > 0) json["error"] = predicted / measured - 1;
  return json;
}

ordered_json PassesOf(const v1::PlanStage& stage, const StageTimes& times) {
  const bool delays = times.Has(Pass::kBackwardWeight);
  const double input = stage.backward_input_seconds();
  const double weight = stage.backward_weight_seconds();
  const std::vector<std::tuple<const char*, Pass, double>> passes = {
      {"forward", Pass::kForward, stage.forward_seconds()},
      {"backward", Pass::kBackward, delays ? input : input + weight},
      {"backward-weight", Pass::kBackwardWeight, weight},
      {"update", Pass::kUpdate, stage.update_seconds()}};
  auto rows = ordered_json::array();
  for (const auto& [name, pass, predicted] : passes) {
    if (pass == Pass::kBackwardWeight && !delays) continue;
    ordered_json row = {{"pass", name}};
    row.update(Figures(predicted, times.Of(pass)));
    const auto median = times.median_seconds.find(pass);
    row["measured_median_seconds"] =
        median == times.median_seconds.end() ? 0 : median->second;
    rows.push_back(std::move(row));
  }
  return rows;
}

v1::Plan AsMeasured(v1::Plan plan, const std::vector<StageTimes>& stages) {
  for (int i = 0; i < plan.stages_size(); ++i) {
    v1::PlanStage& stage = *plan.mutable_stages(i);
    const StageTimes& times = stages[i];
    stage.set_forward_seconds(times.Of(Pass::kForward));
    stage.set_backward_input_seconds(times.Of(Pass::kBackward));
    stage.set_backward_weight_seconds(times.Of(Pass::kBackwardWeight));
    stage.set_update_seconds(times.Of(Pass::kUpdate));
  }
  return plan;
}

void AddDifference(const launch::Launch& launch, const StagedResults& results,
                   double tolerance, ordered_json& report) {
  const std::vector<double>& all = results.differences;
  report["tolerance"] = tolerance;
  report["outputs"] = launch.results.size();
  report["max_relative_difference"] = Largest(all);
  const auto worst = std::max_element(all.begin(), all.end());
  if (worst != all.end()) {
    report["worst_output"] = launch.results[worst - all.begin()].output;
  }
  const double other = Largest(results.other_differences);
  if (!results.other_differences.empty() && other <= tolerance) {
    report["difference_on_first_inputs"] = report["max_relative_difference"];
    report["max_relative_difference"] = other;
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
  const std::vector<StageTimes> times = TimesOf(plan, launch, results);
  ordered_json report;
  report["micro_batches"] = launch.micro_batches;
  report["schedule"] = plan.pipeline().schedule();
  report["stages"] = ordered_json::array();
  for (int i = 0; i < plan.stages_size(); ++i) {
    const v1::PlanStage& stage = plan.stages(i);
    report["stages"].push_back({{"mesh", stage.mesh()},
                                {"passes", PassesOf(stage, times[i])},
                                {"measured_peak_bytes", times[i].peak_bytes}});
  }
  ASSIGN_OR_RETURN(const double simulated,
                   SimulatedStep(AsMeasured(plan, times)));
  const double predicted = plan.pipeline().step_seconds();
  report["step"] = {
      {"predicted_seconds", predicted},
      {"simulated_seconds", simulated},
      {"error", simulated > 0 ? ordered_json(predicted / simulated - 1)
                              : ordered_json(nullptr)}};
  report["reference"] = launch.micro_batches == 1 ? "model" : "one stage";
  AddDifference(launch, results, tolerance, report);
  return report;
}

std::string StagedValidationText(const ordered_json& report) {
  std::string text = absl::StrFormat("%-8s %-16s %11s %11s %8s\n", "stage",
                                     "pass", "predicted", "measured", "error");
  int number = 0;
  for (const ordered_json& stage : report["stages"]) {
    ++number;
    for (const ordered_json& row : stage["passes"]) {
      absl::StrAppendFormat(
          &text, "%-8d %-16s %11s %11s %8s\n", number,
          row["pass"].get<std::string>(),
          FormatSeconds(row["predicted_seconds"]),
          FormatSeconds(row["measured_seconds"]),
          row["error"].is_null()
              ? "-"
              : absl::StrFormat("%.1f%%", row["error"].get<double>() * 100));
    }
  }
  const ordered_json& step = report["step"];
  absl::StrAppend(
      &text, "step of ", report["micro_batches"].get<int>(), " micro-batches, ",
      report["schedule"].get<std::string>(), ": ",
      FormatSeconds(step["predicted_seconds"]), " predicted, ",
      FormatSeconds(step["simulated_seconds"]),
      " simulated from what the modules take; they ran one after the other on "
      "the same devices, so the pipeline itself was not timed\n");
  const double difference = report["max_relative_difference"];
  absl::StrAppendFormat(
      &text, "%d outputs differ by %.1e at most from %s on one device\n",
      report["outputs"].get<int>(), difference,
      report["reference"] == "model" ? "the step"
                                     : "the step as one stage, gradients of "
                                       "its micro-batches added up");
  if (report.contains("difference_on_first_inputs")) {
    absl::StrAppendFormat(
        &text,
        "they differed by %.1e on the first inputs and do not on others: a "
        "value met a kink of the step, where rounding decides\n",
        report["difference_on_first_inputs"].get<double>());
  } else if (!(difference <= report["tolerance"].get<double>())) {
    absl::StrAppendFormat(
        &text, "that is more than %.0e, on two inputs: output %d\n",
        report["tolerance"].get<double>(), report["worst_output"].get<int>());
  }
  return text;
}

}  // namespace meshwright::cli
