#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/interrupt.h"
#include "base/status_macros.h"
#include "cli/arguments.h"
#include "cli/cluster.h"
#include "cli/context.h"
#include "cli/devices.h"
#include "cli/drift.h"
#include "cli/plan_file.h"
#include "cli/planning.h"
#include "cli/progress.h"
#include "cli/store.h"
#include "coordinator/service/planning_client.h"

namespace meshwright::cli {
namespace {

using nlohmann::ordered_json;
using Results = std::map<std::string, v1::ProfileResult>;

struct ValidateFlags {
  std::string model;
  std::string plan;
  std::string store;
  int random = 0;
  uint64_t seed = 0;
  DeviceFlags devices;
};

// `drift` corrects what is predicted for the machine's speed of today.
ordered_json Row(const ValidationPlan& plan, const v1::ProfileResult& result,
                 double drift) {
  ordered_json row;
  row["name"] = plan.name;
  row["predicted_seconds"] = nullptr;
  row["measured_seconds"] = nullptr;
  row["measured_mad_seconds"] = nullptr;
  row["error"] = nullptr;
  row["error_as_profiled"] = nullptr;
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
  const double seconds = static_cast<double>(measured.median_ns()) * 1e-9;
  row["measured_seconds"] = seconds;
  row["measured_mad_seconds"] = static_cast<double>(measured.mad_ns()) * 1e-9;
  if (plan.predicted) {
    const double ratio = seconds > 0 ? plan.predicted_seconds / seconds : 1;
    row["error"] = drift * ratio - 1;
    row["error_as_profiled"] = ratio - 1;
  }
  row["measured_peak_bytes"] = measured.memory().peak_bytes();
  row["max_relative_difference"] = result.max_relative_difference();
  return row;
}

ordered_json Report(const Validation& validation, const Results& results) {
  const std::optional<double> drift = Drift(validation.anchors, results);
  ordered_json report;
  report["machine_drift"] = nullptr;
  if (drift.has_value()) report["machine_drift"] = *drift;
  report["plans"] = ordered_json::array();
  report["chosen"] = validation.plans.front().name;
  report["best_measured"] = nullptr;
  double best = 0;
  for (const ValidationPlan& plan : validation.plans) {
    v1::ProfileResult result;
    result.set_reason("it has no result");
    const auto found = results.find(plan.key);
    if (found != results.end()) result = found->second;
    ordered_json row = Row(plan, result, drift.value_or(1));
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

std::string Table(const ordered_json& report) {
  std::string text = absl::StrFormat("%-12s %11s %11s %8s %11s %11s %11s\n",
                                     "plan", "predicted", "measured", "error",
                                     "predicted", "measured", "difference");
  for (const ordered_json& row : report["plans"]) {
    const std::string name = row["name"];
    if (row.contains("failure")) {
      absl::StrAppend(&text,
                      absl::StrFormat("%-12s %s\n", name,
                                      row["failure"].get<std::string>()));
      continue;
    }
    const bool predicted = row["predicted_seconds"].is_number();
    absl::StrAppend(
        &text, absl::StrFormat(
                   "%-12s %11s %11s %8s %11s %11s %11.1e\n", name,
                   predicted ? FormatSeconds(row["predicted_seconds"]) : "-",
                   FormatSeconds(row["measured_seconds"]),
                   predicted ? absl::StrFormat("%.1f%%",
                                               row["error"].get<double>() * 100)
                             : "-",
                   predicted ? FormatBytes(row["predicted_peak_bytes"]) : "-",
                   FormatBytes(row["measured_peak_bytes"]),
                   row["max_relative_difference"].get<double>()));
  }
  absl::StrAppend(&text, "chosen ", report["chosen"].get<std::string>());
  if (!report["best_measured"].is_null()) {
    absl::StrAppend(&text, ", best measured ",
                    report["best_measured"].get<std::string>());
  }
  absl::StrAppend(&text, "\n");
  if (report["machine_drift"].is_number()) {
    absl::StrAppend(
        &text, absl::StrFormat("segments timed again take %.3f times what they "
                               "took when profiled; errors are less that\n",
                               report["machine_drift"].get<double>()));
  }
  return text;
}

absl::StatusOr<Results> Run(const Context& context,
                            const v1::CompareRequest& request,
                            const std::string& address,
                            const std::stop_token& stop) {
  ASSIGN_OR_RETURN(const auto client,
                   service::PlanningClient::Connect(address));
  ProgressDisplay display(context.err, context.terminal, context.clock);
  Results results;
  RETURN_IF_ERROR(client->Compare(
      request,
      [&](const v1::CompareEvent& event) {
        if (event.has_progress()) display.Show(event.progress());
        if (event.has_result()) results[event.result().key()] = event.result();
      },
      stop));
  return results;
}

absl::Status Validate(const Context& context, const ValidateFlags& flags) {
  ValidationRequest request;
  ASSIGN_OR_RETURN(request.plan, LoadPlan(flags.plan));
  ASSIGN_OR_RETURN(request.hlo_module, LoadModel(flags.model));
  // The plan may come from anyone: its mesh is checked like one that is typed.
  ASSIGN_OR_RETURN(const v1::MeshSpec mesh,
                   ParseMesh(absl::StrJoin(request.plan.mesh(), "x")));
  ASSIGN_OR_RETURN(request.device,
                   ToDeviceSpec(flags.devices, DeviceCount(mesh), true));
  request.model_name = ModelName(flags.model);
  request.random_plans = flags.random;
  request.seed = flags.seed;

  const base::Interrupt interrupt;
  ASSIGN_OR_RETURN(const std::unique_ptr<store::ProfileStore> store,
                   OpenStore(flags.store));
  LocalCluster::Options options;
  options.clock = context.clock;
  options.plan = PlanWith(store.get());
  options.devices = request.device;
  ASSIGN_OR_RETURN(const std::unique_ptr<LocalCluster> cluster,
                   LocalCluster::Start(std::move(options)));
  const auto measurer = cluster->coordinator().NewMeasurer(interrupt.token());
  ProgressDisplay display(context.err, context.terminal, context.clock);
  ASSIGN_OR_RETURN(const Validation validation,
                   PrepareValidation(request, store.get(), measurer.get(),
                                     [&](const v1::PlanProgress& progress) {
                                       display.Show(progress);
                                     }));
  display.Close();
  if (validation.plans.empty()) {
    return absl::InternalError("the validation holds no plan");
  }
  ASSIGN_OR_RETURN(
      const Results results,
      Run(context, validation.request, cluster->address(), interrupt.token()));
  const ordered_json report = Report(validation, results);
  *context.out << (context.json ? report.dump(2) + "\n" : Table(report));
  if (report["plans"][0].contains("failure")) {
    return absl::InternalError(
        absl::StrCat("the chosen plan did not run: ",
                     report["plans"][0]["failure"].get<std::string>()));
  }
  return absl::OkStatus();
}

}  // namespace

void AddValidateVerb(CLI::App& app, Context& context) {
  const auto flags = std::make_shared<ValidateFlags>();
  CLI::App* const verb = AddVerb(
      app, context, "validate", "run a whole model with a plan and baselines",
      [&context, flags] { return Validate(context, *flags); });
  verb->add_option("model", flags->model, "MODEL.hlo.pb or HLO text")
      ->required();
  verb->add_option("plan", flags->plan, "a plan written by plan -o")
      ->required();
  verb->add_option("--store", flags->store,
                   "profile store (default: in the user's data folder)");
  verb->add_option("--random", flags->random, "random plans to add")
      ->check(CLI::Range(0, 1000));
  verb->add_option("--seed", flags->seed, "which random plans");
  AddDeviceFlags(*verb, &flags->devices);
}

}  // namespace meshwright::cli
