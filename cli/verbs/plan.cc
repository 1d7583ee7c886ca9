#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/status_macros.h"
#include "cli/cluster/cluster_file.h"
#include "cli/cluster/plan_meshes.h"
#include "cli/flags/arguments.h"
#include "cli/flags/device_flags.h"
#include "cli/flags/plan_file.h"
#include "cli/flags/plan_flags.h"
#include "cli/flags/security_flags.h"
#include "cli/flags/time_limit.h"
#include "cli/local/cluster.h"
#include "cli/local/local_devices.h"
#include "cli/local/store.h"
#include "cli/text/next_steps.h"
#include "cli/text/plan_summary.h"
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
  std::string baseline;
  std::string wait;
  std::string fallback;
  std::string cluster;
  MeshWishes meshes;
  bool verbose = false;
  bool json_line = false;
};

struct MadePlan {
  v1::Plan plan;
  std::string id;  // at the coordinator that keeps it; empty: none does
};

absl::StatusOr<MadePlan> AskCoordinator(const Context& context,
                                        const std::string& address,
                                        const base::ChannelSecurity& security,
                                        v1::PlanRequest request,
                                        const std::stop_token& stop) {
  ASSIGN_OR_RETURN(const std::unique_ptr<client::PlanningClient> client,
                   client::PlanningClient::Connect(address, security));
  v1::SubmitPlanRequest submission;
  *submission.mutable_request() = std::move(request);
  ASSIGN_OR_RETURN(const v1::PlanRecord record, client->SubmitPlan(submission));
  absl::StatusOr<v1::Plan> plan =
      WatchPlanToEnd(context, *client, record.id(), stop);
  if (stop.stop_requested()) {
    return absl::CancelledError(absl::StrCat(
        record.id(),
        " goes on at the coordinator; see `meshwright plans watch ",
        record.id(), "`, or `plans cancel`"));
  }
  RETURN_IF_ERROR(plan.status());
  return MadePlan{*std::move(plan), record.id()};
}

absl::StatusOr<MadePlan> PlanLocally(const Context& context,
                                     const PlanVerbFlags& flags,
                                     const v1::DeviceSpec& devices,
                                     const v1::PlanRequest& request,
                                     const std::stop_token& stop) {
  ASSIGN_OR_RETURN(const std::unique_ptr<store::ProfileStore> store,
                   OpenStore(flags.store));
  LocalCluster::Options options;
  options.clock = context.clock;
  options.store = store.get();
  options.devices = devices;
  ASSIGN_OR_RETURN(const std::unique_ptr<LocalCluster> cluster,
                   LocalCluster::Start(std::move(options)));
  ASSIGN_OR_RETURN(const std::unique_ptr<client::PlanningClient> client,
                   client::PlanningClient::Connect(cluster->address()));
  ProgressDisplay display(context.err, context.terminal, context.clock);
  auto plan = client->MakePlan(
      request,
      [&](const v1::PlanProgress& progress) { display.Show(progress); }, stop);
  if (absl::IsCancelled(plan.status())) {
    return absl::CancelledError(
        "interrupted; the store keeps what was measured, and the same command "
        "goes on from there");
  }
  RETURN_IF_ERROR(plan.status());
  return MadePlan{*std::move(plan)};
}

absl::StatusOr<MadePlan> AskForPlan(const Context& context,
                                    const PlanVerbFlags& flags,
                                    const v1::PlanRequest& request,
                                    const std::stop_token& stop) {
  const int64_t count = CountDevices(request.mesh());
  if (flags.coordinator.empty()) {
    ASSIGN_OR_RETURN(const v1::DeviceSpec devices,
                     TakeLocalDevices(flags.plan.devices, count));
    return PlanLocally(context, flags, devices, request, stop);
  }
  RETURN_IF_ERROR(ToDeviceSpec(flags.plan.devices, count, false).status());
  return AskCoordinator(context, flags.coordinator,
                        base::WithEnvironment(flags.security), request, stop);
}

// What is wrong with the step is wrong with its baseline, too.
bool IsOfStep(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsOutOfRange(status);
}

absl::StatusOr<MadePlan> MeasureMesh(const Context& context,
                                     const PlanVerbFlags& flags,
                                     const v1::PlanRequest& request,
                                     const TimeLimit& limit) {
  absl::StatusOr<MadePlan> planned =
      absl::DeadlineExceededError("other meshes took the time");
  if (!limit.has_passed()) {
    planned = AskForPlan(context, flags, request, limit.token());
  }
  // An interrupt stops, too.
  if (planned.ok() || (!limit.has_passed() && (limit.token().stop_requested() ||
                                               IsOfStep(planned.status())))) {
    return planned;
  }
  const std::string reason =
      limit.has_passed() ? absl::StrCat("there is no plan after ", flags.wait)
                         : std::string(planned.status().message());
  if (flags.fallback.empty()) {
    if (!limit.has_passed()) return planned;
    return absl::DeadlineExceededError(
        absl::StrCat(reason, ": ", planned.status().message()));
  }
  ASSIGN_OR_RETURN(v1::Plan plan,
                   planning::MakeBaselinePlan(request, flags.fallback));
  *context.err << reason << "; the plan is the baseline " << flags.fallback
               << "\n";
  plan.add_notes(absl::StrCat("it stands in for a better one: ", reason));
  plan.set_fallback(flags.fallback);
  return MadePlan{std::move(plan)};
}

using MeshPlanner =
    std::function<absl::StatusOr<MadePlan>(const v1::PlanRequest&)>;

// The mesh is one of the cluster's. The plan has notes that no coordinator
// knows, so it has no id.
absl::StatusOr<MadePlan> PlanCluster(const Context& context,
                                     const PlanVerbFlags& flags,
                                     const MeshPlanner& plan_mesh) {
  ASSIGN_OR_RETURN(const LoadedCluster loaded, LoadCluster(flags.cluster));
  PlanFlags step = flags.plan;
  step.mesh = absl::StrCat(loaded.cluster.device_count());
  ASSIGN_OR_RETURN(const v1::PlanRequest request, ToPlanRequest(step));
  MeshWishes wishes = flags.meshes;
  wishes.mesh = flags.plan.mesh;
  wishes.with_links = flags.symbolic || flags.plan.devices.solo;
  if (context.terminal) {
    wishes.report = [&](const std::string& what) {
      *context.err << what << "\n";
    };
  }
  const auto plan_one =
      [&](const v1::PlanRequest& one) -> absl::StatusOr<v1::Plan> {
    ASSIGN_OR_RETURN(MadePlan made, plan_mesh(one));
    return std::move(made.plan);
  };
  ASSIGN_OR_RETURN(v1::Plan plan,
                   PlanMeshes(request, loaded.cluster, wishes, plan_one));
  return MadePlan{std::move(plan)};
}

absl::StatusOr<MadePlan> MakePlan(const Context& context,
                                  const PlanVerbFlags& flags) {
  std::optional<absl::Duration> wait;
  if (!flags.wait.empty()) {
    ASSIGN_OR_RETURN(wait, ParseTime("--wait", flags.wait));
  }
  // All meshes share it, from the first one's planning on.
  std::optional<TimeLimit> limit;
  const MeshPlanner plan_mesh =
      [&](const v1::PlanRequest& request) -> absl::StatusOr<MadePlan> {
    if (flags.symbolic || !flags.baseline.empty()) {
      ASSIGN_OR_RETURN(
          v1::Plan plan,
          flags.symbolic ? planning::MakeSymbolicPlan(request)
                         : planning::MakeBaselinePlan(request, flags.baseline));
      return MadePlan{std::move(plan)};
    }
    if (!limit.has_value()) limit.emplace(wait);
    return MeasureMesh(context, flags, request, *limit);
  };
  if (!flags.cluster.empty()) return PlanCluster(context, flags, plan_mesh);
  if (flags.plan.mesh.empty()) {
    return absl::InvalidArgumentError(
        "--mesh is required, like 1x2, unless --cluster names a cluster file");
  }
  ASSIGN_OR_RETURN(const v1::PlanRequest request, ToPlanRequest(flags.plan));
  return plan_mesh(request);
}

PlanSource FindSource(const PlanVerbFlags& flags, const std::string& id) {
  PlanSource source;
  source.model = flags.plan.model;
  source.plan = flags.output;
  if (!flags.store.empty()) source.store = DescribeStorePath(flags.store);
  const DeviceFlags& devices = flags.plan.devices;
  if (devices.platform != "cpu") {
    source.device_flags = absl::StrCat(" --platform ", devices.platform);
  }
  if (!devices.plugin.empty()) {
    absl::StrAppend(&source.device_flags, " --plugin ",
                    QuoteWord(devices.plugin));
  }
  source.has_own_devices = flags.coordinator.empty() && !devices.solo;
  source.id = id;
  if (!id.empty()) {
    source.address_flags = WriteAddressFlags(flags.coordinator, flags.security);
  }
  return source;
}

std::string FormatPlan(const MadePlan& made, const PlanVerbFlags& flags) {
  if (flags.json_line) {
    return PlanToJsonLine(made.plan, made.id, flags.output);
  }
  if (flags.verbose) return DescribePlan(made.plan);
  const PlanSource source = FindSource(flags, made.id);
  return SummarizePlan(made.plan, ListNextSteps(made.plan, source),
                       RemeasureCommand(source));
}

absl::Status Plan(const Context& context, const PlanVerbFlags& flags) {
  for (const std::string& path : {flags.output, flags.plan.stages.trace}) {
    if (!path.empty()) RETURN_IF_ERROR(CheckWritable(path));
  }

  const absl::StatusOr<MadePlan> planned = MakePlan(context, flags);
  if (!planned.ok()) return NameModel(planned.status(), flags.plan.model);
  const v1::Plan& plan = planned->plan;
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
      *context.err << "no trace is written, because no plan was found that "
                      "fits the memory\n";
    }
  }
  *context.out << (context.json ? json : FormatPlan(*planned, flags));
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
  verb->add_flag("--verbose", flags->verbose,
                 "print all of the plan: arguments, ties, programs left out");
  verb->add_flag("--json-line", flags->json_line,
                 "print one line of JSON for a launcher: plan, feasible, "
                 "fallback, step_seconds, file")
      ->excludes("--json");
  AddClientSecurityFlags(*verb, &flags->security);
  verb->add_flag("--symbolic", flags->symbolic,
                 "measure nothing and need no device, plan by roofline")
      ->excludes(store)
      ->excludes(coordinator)
      ->excludes(stages);
  verb->add_option("--baseline", flags->baseline,
                   "measure nothing and need no device, take dp, tp, fsdp, "
                   "alpa-like or map")
      ->excludes(store)
      ->excludes(coordinator)
      ->excludes(stages)
      ->excludes("--symbolic");
  verb->add_option("--wait", flags->wait,
                   "give up after so long: 90s, 5m, 12h; a coordinator goes on "
                   "with the plan")
      ->excludes("--symbolic")
      ->excludes("--baseline");
  verb->add_option("--fallback", flags->fallback,
                   "the baseline to take after --wait, or where there is no "
                   "plan for a reason that is not the step's")
      ->check(CLI::IsMember({"dp", "tp", "fsdp", "alpa-like", "map"}))
      ->excludes(stages)
      ->excludes("--symbolic")
      ->excludes("--baseline");
  verb->get_option("--mesh")->required(false);
  CLI::Option* const cluster =
      verb->add_option("--cluster", flags->cluster,
                       "cluster file; every mesh of its devices is planned, "
                       "best first (default: --mesh alone)")
          ->excludes(stages)
          ->excludes("--links");
  verb->add_option("--meshes", flags->meshes.maximum_meshes,
                   "meshes of the cluster to plan (default: all)")
      ->needs(cluster)
      ->check(CLI::PositiveNumber);
  verb->add_option("--max-axes", flags->meshes.maximum_axes,
                   "axes that a mesh of the cluster may have")
      ->capture_default_str()
      ->needs(cluster)
      ->check(CLI::Range(1, 4));
}

}  // namespace meshwright::cli
