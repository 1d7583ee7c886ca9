#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/interrupt.h"
#include "base/rpc/channel_security.h"
#include "base/status_macros.h"
#include "cli/flags/arguments.h"
#include "cli/flags/device_flags.h"
#include "cli/flags/plan_file.h"
#include "cli/flags/security_flags.h"
#include "cli/flags/store_address.h"
#include "cli/local/cluster.h"
#include "cli/local/local_devices.h"
#include "cli/local/store.h"
#include "cli/text/format.h"
#include "cli/text/json.h"
#include "cli/text/progress.h"
#include "cli/text/rows_text.h"
#include "cli/text/table.h"
#include "cli/verbs/verbs.h"
#include "coordinator/client/planning_client.h"
#include "coordinator/planning/plan_metadata.h"
#include "coordinator/validation/remeasure_plan.h"
#include "profiledb/upkeep/store_reports.h"
#include "proto/v1/reports.pb.h"

namespace meshwright::cli {
namespace {

struct ShowFlags {
  std::vector<std::string> keys;
  std::string team;
  StoreAddress address;
};

struct RemeasureFlags {
  std::string plan;
  std::string model;
  std::string store;
  std::string coordinator;
  base::ChannelSecurity security;
  bool all = false;
  std::vector<std::string> keys;
  DeviceFlags devices;
};

struct RetryFlags {
  std::string key;
  StoreAddress address;
};

// ---- stats

std::string DescribeStore(const v1::StoreReport& report) {
  if (report.outcomes().empty()) {
    return "the store has no rows; `meshwright plan` measures some\n";
  }
  const auto list = [](const auto& counts) {
    std::map<std::string, int64_t> sorted(counts.begin(), counts.end());
    return absl::StrJoin(sorted, ", ", [](std::string* out, const auto& it) {
      absl::StrAppend(out, it.second, " ", it.first);
    });
  };
  std::string text =
      absl::StrCat("rows: ", list(report.outcomes()),
                   "\nquality of the measured: ", list(report.qualities()),
                   "\nprograms: ", report.programs(), ", ",
                   FormatBytes(report.program_bytes()), ", compressed ",
                   FormatBytes(report.compressed_program_bytes()), "\n");
  if (report.quarantined() > 0) {
    absl::StrAppend(&text, "in quarantine: ", report.quarantined(),
                    "; see meshwright profiles quarantine list\n");
  }
  std::vector<TableRow> rows;
  for (const v1::MachineRows& machine : report.machines()) {
    rows.push_back({machine.machine().empty() ? "unknown"
                                              : machine.machine().substr(0, 12),
                    absl::StrCat(machine.rows()), machine.host()});
  }
  return absl::StrCat(
      text,
      FormatTable({{"machine", Align::kLeft}, {"rows"}, {"host", Align::kLeft}},
                  rows));
}

absl::StatusOr<v1::StoreReport> FindStatistics(const StoreAddress& address) {
  if (!address.coordinator.empty()) {
    ASSIGN_OR_RETURN(const auto client, ConnectTo(address));
    return client->DescribeStore();
  }
  ASSIGN_OR_RETURN(const auto store, OpenExistingStore(address.store));
  return store::ReportStore(*store);
}

absl::Status ShowStatistics(const Context& context,
                            const StoreAddress& address) {
  ASSIGN_OR_RETURN(const v1::StoreReport report, FindStatistics(address));
  *context.out << (context.json ? ToJson(report).dump(2) + "\n"
                                : DescribeStore(report));
  return absl::OkStatus();
}

// ---- show

absl::StatusOr<v1::RowsReport> FindRows(const ShowFlags& flags) {
  if (flags.address.coordinator.empty()) {
    ASSIGN_OR_RETURN(const auto store, OpenExistingStore(flags.address.store));
    return store::ReportRows(
        *store, flags.keys,
        flags.team.empty() ? store::kSharedPool : flags.team);
  }
  ASSIGN_OR_RETURN(const auto client, ConnectTo(flags.address));
  v1::LookUpRequest request;
  request.mutable_keys()->Assign(flags.keys.begin(), flags.keys.end());
  request.set_namespace_(flags.team);
  ASSIGN_OR_RETURN(const v1::LookUpResponse found, client->LookUpRows(request));
  std::map<std::string, v1::ProfileResult> rows;
  for (const v1::ProfileResult& row : found.rows()) rows[row.key()] = row;
  v1::RowsReport report;
  for (const std::string& key : flags.keys) {
    v1::RowReport& it = *report.add_rows();
    it.set_key(key);
    const auto row = rows.find(key);
    if (row != rows.end()) *it.mutable_row() = row->second;
  }
  return report;
}

absl::Status ShowRows(const Context& context, const ShowFlags& flags) {
  ASSIGN_OR_RETURN(const v1::RowsReport report, FindRows(flags));
  *context.out << (context.json ? ToJson(report).dump(2) + "\n"
                                : FormatRows(report));
  for (const v1::RowReport& row : report.rows()) {
    if (!row.has_row()) {
      return absl::NotFoundError(absl::StrCat(
          "there is no row of key ", row.key(),
          "; \"meshwright jobs get\" and remeasure --json name keys"));
    }
  }
  return absl::OkStatus();
}

// ---- remeasure

std::string DescribeRemeasured(const v1::RemeasureReport& report) {
  std::vector<TableRow> rows;
  for (const v1::RemeasuredRow& it : report.rows()) {
    rows.push_back(
        {it.label(),
         it.has_seconds_before() ? FormatSeconds(it.seconds_before()) : "-",
         it.has_seconds_after() ? FormatSeconds(it.seconds_after()) : "failed",
         FormatQuality(it.quality_before()), FormatQuality(it.quality_after()),
         absl::StrCat(it.measurements())});
  }
  const std::string rest =
      absl::StrCat(report.left(), " rows of the plan were good and are left");
  if (rows.empty()) return absl::StrCat(rest, "; --all measures them too\n");
  return absl::StrCat(FormatTable({{"program", Align::kLeft},
                                   {"before"},
                                   {"after"},
                                   {"was", Align::kLeft},
                                   {"is", Align::kLeft},
                                   {"measurements"}},
                                  rows),
                      rest, "\n");
}

v1::RemeasureRequest MakeRemeasureRequest(const RemeasureFlags& flags) {
  v1::RemeasureRequest request;
  request.set_id(flags.plan);
  request.set_all(flags.all);
  request.mutable_keys()->Assign(flags.keys.begin(), flags.keys.end());
  return request;
}

absl::StatusOr<v1::RemeasureReport> RemeasureLocally(
    const Context& context, const RemeasureFlags& flags,
    const jobs::ProgressFunction& progress) {
  ASSIGN_OR_RETURN(const v1::Plan plan, LoadPlan(flags.plan));
  ASSIGN_OR_RETURN(const v1::MeshSpec mesh,
                   ParseMesh(absl::StrJoin(plan.mesh(), "x")));
  const base::Interrupt interrupt;
  ASSIGN_OR_RETURN(const auto store, OpenNamedStore(flags.store));
  ASSIGN_OR_RETURN(std::string model,
                   FindModel(plan, flags.model, store.get()));
  LocalCluster::Options options;
  options.clock = context.clock;
  options.store = store.get();
  ASSIGN_OR_RETURN(options.devices,
                   TakeLocalDevices(flags.devices, CountDevices(mesh)));
  ASSIGN_OR_RETURN(const auto cluster, LocalCluster::Start(std::move(options)));
  const auto measurer = cluster->coordinator().NewMeasurer(interrupt.token());
  return validation::RemeasurePlan(
      plan, planning::RestoreRequest(plan, std::move(model)),
      MakeRemeasureRequest(flags), {store.get(), measurer.get()}, progress);
}

absl::StatusOr<v1::RemeasureReport> RemeasureRemotely(
    const RemeasureFlags& flags, const jobs::ProgressFunction& progress) {
  const base::Interrupt interrupt;
  ASSIGN_OR_RETURN(
      const auto client,
      client::PlanningClient::Connect(flags.coordinator,
                                      base::WithEnvironment(flags.security)));
  return client->RemeasurePlan(MakeRemeasureRequest(flags), progress,
                               interrupt.token());
}

absl::Status Remeasure(const Context& context, const RemeasureFlags& flags) {
  ProgressDisplay display(context.err, context.terminal, context.clock);
  const auto show = [&](const v1::PlanProgress& progress) {
    display.Show(progress);
  };
  ASSIGN_OR_RETURN(const v1::RemeasureReport report,
                   flags.coordinator.empty()
                       ? RemeasureLocally(context, flags, show)
                       : RemeasureRemotely(flags, show));
  display.Close();
  *context.out << (context.json ? ToJson(report).dump(2) + "\n"
                                : DescribeRemeasured(report));
  return absl::OkStatus();
}

// ---- quarantine

std::string DescribeQuarantine(const v1::QuarantineReport& report) {
  if (report.programs().empty()) return "the quarantine is empty\n";
  std::vector<TableRow> rows;
  for (const v1::QuarantinedProgram& it : report.programs()) {
    rows.push_back(
        {it.key(),
         absl::AsciiStrToLower(v1::QuarantinedProgram::State_Name(it.state())),
         absl::StrCat(it.crashes()), it.reason()});
  }
  return absl::StrCat(
      FormatTable({{"key", Align::kLeft},
                   {"state", Align::kLeft},
                   {"crashes"},
                   {"reason", Align::kLeft}},
                  rows),
      "a damaged row is measured again when a plan needs it; meshwright "
      "profiles quarantine retry KEY lets a crashing program run again\n");
}

absl::StatusOr<v1::QuarantineReport> FindQuarantine(
    const StoreAddress& address) {
  if (!address.coordinator.empty()) {
    ASSIGN_OR_RETURN(const auto client, ConnectTo(address));
    return client->ListQuarantine();
  }
  ASSIGN_OR_RETURN(const auto store, OpenExistingStore(address.store));
  return store::ReportQuarantine(*store);
}

absl::Status ListQuarantine(const Context& context,
                            const StoreAddress& address) {
  ASSIGN_OR_RETURN(const v1::QuarantineReport report, FindQuarantine(address));
  *context.out << (context.json ? ToJson(report).dump(2) + "\n"
                                : DescribeQuarantine(report));
  return absl::OkStatus();
}

absl::Status Release(const RetryFlags& flags) {
  if (!flags.address.coordinator.empty()) {
    ASSIGN_OR_RETURN(const auto client, ConnectTo(flags.address));
    return client->RetryQuarantined(flags.key);
  }
  ASSIGN_OR_RETURN(const auto store, OpenExistingStore(flags.address.store));
  return store->RetryQuarantined(flags.key);
}

absl::Status RetryQuarantined(const Context& context, const RetryFlags& flags) {
  RETURN_IF_ERROR(Release(flags));
  *context.err << "the next plan that needs " << flags.key
               << " measures it again\n";
  return absl::OkStatus();
}

}  // namespace

void AddProfilesVerb(CLI::App& app, Context& context) {
  CLI::App* const parent =
      app.add_subcommand("profiles", "look after the rows of a profile store");
  parent->require_subcommand(0, 1);
  const auto [stats, stats_flags] =
      AddVerb(*parent, context, "stats", "count rows, machines and programs",
              ShowStatistics);
  AddStoreAddress(*stats, stats_flags);

  const auto [show, show_flags] = AddVerb(
      *parent, context, "show",
      "show rows with their measurements and where they come from", ShowRows);
  show->add_option("key", show_flags->keys, "of a row")->required();
  show->add_option("--team", show_flags->team,
                   "of this namespace, else of the shared pool");
  AddStoreAddress(*show, &show_flags->address);

  const auto [again, again_flags] =
      AddVerb(*parent, context, "remeasure",
              "measure the noisy rows of a plan again", Remeasure);
  again
      ->add_option("plan", again_flags->plan,
                   "a plan written by plan -o; of a coordinator, plan-N")
      ->required();
  again->add_option("--model", again_flags->model,
                    "the plan's model, where the store does not hold it");
  CLI::Option* const all =
      again->add_flag("--all", again_flags->all, "remeasure good rows as well");
  again
      ->add_option("--row", again_flags->keys,
                   "remeasure the row with this key alone, good or not; may be "
                   "repeated")
      ->excludes(all);
  AddStoreFlag(*again, again_flags->store);
  AddDeviceFlags(*again, &again_flags->devices);
  again
      ->add_option("--coordinator", again_flags->coordinator,
                   "HOST:PORT of a running coordinator, whose store and "
                   "workers are meant (default: this machine's)")
      ->excludes("--store")
      ->excludes("--model");
  AddClientSecurityFlags(*again, &again_flags->security);

  AddCoverageVerb(*parent, context);
  AddUpkeepVerbs(*parent, context);

  CLI::App* const quarantine = parent->add_subcommand(
      "quarantine",
      "programs that crash or time out, and rows that are damaged");
  quarantine->require_subcommand(0, 1);
  const auto [list, list_flags] =
      AddVerb(*quarantine, context, "list",
              "list quarantined programs and damaged rows", ListQuarantine);
  AddStoreAddress(*list, list_flags);
  const auto [retry, retry_flags] =
      AddVerb(*quarantine, context, "retry", "let a program run again",
              RetryQuarantined);
  retry->add_option("key", retry_flags->key, "of the program")->required();
  AddStoreAddress(*retry, &retry_flags->address);
}

}  // namespace meshwright::cli
