// profiles coverage: what is known of a plan before it is made.
#include "coordinator/planning/coverage.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>

#include "base/interrupt.h"
#include "base/rpc/channel_security.h"
#include "base/status_macros.h"
#include "cli/flags/arguments.h"
#include "cli/flags/device_flags.h"
#include "cli/flags/plan_file.h"
#include "cli/flags/plan_flags.h"
#include "cli/flags/security_flags.h"
#include "cli/flags/store_address.h"
#include "cli/local/cluster.h"
#include "cli/local/local_devices.h"
#include "cli/local/store.h"
#include "cli/text/coverage_text.h"
#include "cli/text/json.h"
#include "cli/verbs/verbs.h"
#include "coordinator/client/planning_client.h"

namespace meshwright::cli {
namespace {

struct CoverageFlags {
  PlanFlags plan;
  std::string store;
  std::string coordinator;
  base::ChannelSecurity security;
};

absl::StatusOr<v1::CoverageReport> CoverLocally(
    const Context& context, const CoverageFlags& flags,
    const v1::PlanRequest& request) {
  ASSIGN_OR_RETURN(const auto store, OpenNamedStore(flags.store));
  LocalCluster::Options options;
  options.clock = context.clock;
  options.store = store.get();
  ASSIGN_OR_RETURN(
      options.devices,
      TakeLocalDevices(flags.plan.devices, CountDevices(request.mesh())));
  ASSIGN_OR_RETURN(const auto cluster, LocalCluster::Start(std::move(options)));
  const base::Interrupt interrupt;
  const auto measurer = cluster->coordinator().NewMeasurer(interrupt.token());
  return planning::CoverPlan(request, {store.get(), measurer.get()});
}

absl::StatusOr<v1::CoverageReport> AskForCoverage(
    const CoverageFlags& flags, const v1::PlanRequest& request) {
  RETURN_IF_ERROR(ToDeviceSpec(flags.plan.devices, 1, false).status());
  ASSIGN_OR_RETURN(
      const auto client,
      client::PlanningClient::Connect(flags.coordinator,
                                      base::WithEnvironment(flags.security)));
  return client->CoverPlan(request);
}

absl::Status ShowCoverage(const Context& context, const CoverageFlags& flags) {
  ASSIGN_OR_RETURN(const v1::PlanRequest request, ToPlanRequest(flags.plan));
  const auto report = flags.coordinator.empty()
                          ? CoverLocally(context, flags, request)
                          : AskForCoverage(flags, request);
  if (!report.ok()) return NameModel(report.status(), flags.plan.model);
  *context.out << (context.json ? ToJson(*report).dump(2) + "\n"
                                : DescribeCoverage(*report));
  return absl::OkStatus();
}

}  // namespace

void AddCoverageVerb(CLI::App& profiles, Context& context) {
  const auto [verb, flags] = AddVerb(
      profiles, context, "coverage",
      "say which programs of a model are known and what the rest would cost",
      ShowCoverage);
  AddStepFlags(*verb, &flags->plan);
  AddStoreFlag(*verb, flags->store);
  verb->add_option("--coordinator", flags->coordinator,
                   "HOST:PORT of a running coordinator, whose store and "
                   "devices count (default: this machine's)")
      ->excludes("--store");
  AddClientSecurityFlags(*verb, &flags->security);
}

}  // namespace meshwright::cli
