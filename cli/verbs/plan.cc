#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/status_macros.h"
#include "cli/flags/arguments.h"
#include "cli/flags/device_flags.h"
#include "cli/flags/plan_file.h"
#include "cli/flags/plan_flags.h"
#include "cli/flags/security_flags.h"
#include "cli/local/cluster.h"
#include "cli/local/store.h"
#include "cli/text/plan_text.h"
#include "cli/text/progress.h"
#include "cli/text/stages_text.h"
#include "cli/verbs/plan_watching.h"
#include "cli/verbs/verbs.h"
#include "coordinator/client/planning_client.h"
#include "coordinator/planning/symbolic_plan.h"

namespace meshwright::cli {
namespace {

struct PlanVerbFlags {
  PlanFlags plan;
  std::string store;
  std::string coordinator;
  std::string output;
  base::ChannelSecurity security;
  bool symbolic = false;
};

absl::StatusOr<v1::Plan> AskCoordinator(const Context& context,
                                        const std::string& address,
                                        const base::ChannelSecurity& security,
                                        v1::PlanRequest request) {
  const base::Interrupt interrupt;
  ASSIGN_OR_RETURN(const std::unique_ptr<client::PlanningClient> client,
                   client::PlanningClient::Connect(address, security));
  v1::SubmitPlanRequest submission;
  *submission.mutable_request() = std::move(request);
  ASSIGN_OR_RETURN(const v1::PlanRecord record, client->SubmitPlan(submission));
  auto plan = WatchPlanToEnd(context, *client, record.id(), interrupt.token());
  if (!interrupt.token().stop_requested()) return plan;
  return absl::CancelledError(absl::StrCat(
      record.id(), " goes on at the coordinator; see `meshwright plans watch ",
      record.id(), "`, or `plans cancel`"));
}

absl::StatusOr<v1::Plan> PlanLocally(const Context& context,
                                     const PlanVerbFlags& flags,
                                     const v1::DeviceSpec& devices,
                                     const v1::PlanRequest& request) {
  ASSIGN_OR_RETURN(const std::unique_ptr<store::ProfileStore> store,
                   OpenStore(flags.store));
  LocalCluster::Options options;
  options.clock = context.clock;
  options.store = store.get();
  options.devices = devices;
  ASSIGN_OR_RETURN(const std::unique_ptr<LocalCluster> cluster,
                   LocalCluster::Start(std::move(options)));
  const base::Interrupt interrupt;
  ASSIGN_OR_RETURN(const std::unique_ptr<client::PlanningClient> client,
                   client::PlanningClient::Connect(cluster->address()));
  ProgressDisplay display(context.err, context.terminal, context.clock);
  return client->MakePlan(
      request,
      [&](const v1::PlanProgress& progress) { display.Show(progress); },
      interrupt.token());
}

absl::Status Plan(const Context& context, const PlanVerbFlags& flags) {
  ASSIGN_OR_RETURN(const v1::PlanRequest request, ToPlanRequest(flags.plan));
  const bool local = flags.coordinator.empty();
  ASSIGN_OR_RETURN(
      const v1::DeviceSpec devices,
      ToDeviceSpec(flags.plan.devices, CountDevices(request.mesh()), local));
  for (const std::string& path : {flags.output, flags.plan.stages.trace}) {
    if (!path.empty()) RETURN_IF_ERROR(CheckWritable(path));
  }

  const absl::StatusOr<v1::Plan> planned =
      flags.symbolic ? planning::MakeSymbolicPlan(request)
      : local        ? PlanLocally(context, flags, devices, request)
                     : AskCoordinator(context, flags.coordinator,
                                      base::WithEnvironment(flags.security), request);
  if (!planned.ok()) return NameModel(planned.status(), flags.plan.model);
  const v1::Plan& plan = *planned;
  const std::string json = PlanToJsonText(plan);
  if (!flags.output.empty()) {
    RETURN_IF_ERROR(base::WriteFile(flags.output, json));
    *context.err << "wrote " << flags.output << "\n";
  }
  if (!flags.plan.stages.trace.empty()) {
    if (plan.feasible()) {
      ASSIGN_OR_RETURN(const std::string trace, TraceStages(plan));
      RETURN_IF_ERROR(base::WriteFile(flags.plan.stages.trace, trace));
    } else {
      *context.err << "no trace is written, because no plan fits the memory\n";
    }
  }
  *context.out << (context.json ? json : DescribePlan(plan));
  return absl::OkStatus();
}

}  // namespace

void AddPlanVerb(CLI::App& app, Context& context) {
  const auto [verb, flags] = AddVerb(
      app, context, "plan", "find the fastest sharding of a model", Plan);
  CLI::Option* const stages = AddPlanFlags(*verb, &flags->plan);
  CLI::Option* const store =
      verb->add_option("--store", flags->store,
                       "profile store (default: in the user's data folder)");
  CLI::Option* const coordinator = verb->add_option(
      "--coordinator", flags->coordinator,
      "HOST:PORT of a running coordinator (default: starts its own)");
  coordinator->excludes(store);
  verb->add_option("-o,--output", flags->output, "file to write the plan to");
  AddClientSecurityFlags(*verb, &flags->security);
  verb->add_flag("--symbolic", flags->symbolic,
                 "measure nothing and need no device, plan by roofline")
      ->excludes(store)
      ->excludes(coordinator)
      ->excludes(stages);
}

}  // namespace meshwright::cli
