#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "cli/flags/device_flags.h"
#include "cli/flags/security_flags.h"
#include "cli/local/checks.h"
#include "cli/local/program_checks.h"
#include "cli/local/store.h"
#include "cli/text/table.h"
#include "cli/verbs/verbs.h"
#include "worker/service/runner_batches.h"
#include "worker/service/worker.h"

namespace meshwright::cli {
namespace {

struct DoctorFlags {
  std::string store;
  std::string coordinator;
  base::ChannelSecurity security;
  DeviceFlags devices;
};

absl::Status Doctor(const Context& context, const DoctorFlags& flags) {
  ASSIGN_OR_RETURN(const v1::DeviceSpec device,
                   ToDeviceSpec(flags.devices,
                                flags.devices.platform == "cpu" ? 2 : 1, true));
  std::vector<Check> checks = {CheckRunner()};
  const worker::BatchFunction run_batch = worker::RunnerBatches();
  // With no programs it opens the plugin and says what it found.
  const auto ready = worker::DescribeDevices(device, run_batch);
  checks.push_back(CheckPlugin(device, ready));
  checks.push_back(CheckSandbox(ready));
  for (Check& check : CheckPrograms(device, ready, run_batch)) {
    checks.push_back(std::move(check));
  }
  checks.push_back(CheckStore(flags.store));
  checks.push_back(CheckDisk(FindStorePath(flags.store).value_or(".")));
  checks.push_back(CheckCoordinator(flags.coordinator,
                                    base::WithEnvironment(flags.security)));
  checks.push_back(CheckProcessors());

  if (context.json) {
    auto listed = nlohmann::ordered_json::array();
    for (const Check& check : checks) {
      listed.push_back({{"name", check.name},
                        {"state", ToString(check.state)},
                        {"detail", check.detail},
                        {"advice", check.advice}});
    }
    const nlohmann::ordered_json report = {{"checks", std::move(listed)}};
    *context.out << report.dump(2) << "\n";
  } else {
    std::vector<TableRow> rows;
    for (const Check& check : checks) {
      rows.push_back({ToString(check.state), check.name, check.detail});
      if (!check.advice.empty()) rows.push_back({"", "", "-> " + check.advice});
    }
    *context.out << FormatTable(
        {{"", Align::kLeft}, {"", Align::kLeft}, {"", Align::kLeft}}, rows);
  }
  const auto failed = std::count_if(
      checks.begin(), checks.end(),
      [](const Check& check) { return check.state == Check::State::kFail; });
  if (failed == 0) return absl::OkStatus();
  return absl::InternalError(
      absl::StrFormat("%d of %d checks failed", failed, checks.size()));
}

}  // namespace

void AddDoctorVerb(CLI::App& app, Context& context) {
  const auto [verb, flags] =
      AddVerb(app, context, "doctor", "check this installation", Doctor);
  verb->add_option("--store", flags->store, "profile store to open");
  AddAddressFlags(*verb, &flags->coordinator, &flags->security);
  AddDeviceFlags(*verb, &flags->devices);
}

}  // namespace meshwright::cli
