#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/status_macros.h"
#include "cli/flags/arguments.h"
#include "cli/flags/device_flags.h"
#include "cli/flags/plan_file.h"
#include "cli/flags/stage_flags.h"
#include "cli/flags/strategy_flags.h"
#include "cli/local/cluster.h"
#include "cli/local/store.h"
#include "cli/text/plan_text.h"
#include "cli/text/progress.h"
#include "cli/text/stages_text.h"
#include "cli/verbs/context.h"
#include "coordinator/planning/symbolic_plan.h"
#include "coordinator/service/planning_client.h"

namespace meshwright::cli {
namespace {

struct PlanFlags {
  std::string model;
  std::string mesh;
  std::string device_memory;
  std::string store;
  std::string coordinator;
  std::string output;
  std::string xla_flags;
  bool no_wait = false;
  bool full_space = false;
  bool retry_failures = false;
  bool unknown_machine = false;
  bool symbolic = false;
  StageFlags stages;
  StrategyFlags strategies;
  DeviceFlags devices;
};

absl::StatusOr<v1::PlanRequest> ToRequest(const PlanFlags& flags) {
  v1::PlanRequest request;
  ASSIGN_OR_RETURN(*request.mutable_mesh(), ParseMesh(flags.mesh));
  if (!flags.device_memory.empty()) {
    ASSIGN_OR_RETURN(const int64_t bytes, ParseBytes(flags.device_memory));
    request.set_device_memory_bytes(bytes);
  }
  request.set_no_wait(flags.no_wait || flags.unknown_machine);
  request.set_unknown_machine(flags.unknown_machine);
  request.set_full_space(flags.full_space);
  request.set_retry_failures(flags.retry_failures);
  request.set_xla_flags(flags.xla_flags);
  ASSIGN_OR_RETURN(*request.mutable_strategies(),
                   ToStrategyRequest(flags.strategies));
  RETURN_IF_ERROR(ToStageRequest(flags.stages, &request));
  request.set_platform(flags.devices.platform);
  request.set_plugin_path(flags.devices.plugin);
  request.set_model_name(ParseModelName(flags.model));
  ASSIGN_OR_RETURN(*request.mutable_hlo_module(), LoadModel(flags.model));
  return request;
}

absl::StatusOr<v1::Plan> AskCoordinator(const Context& context,
                                        const std::string& address,
                                        const v1::PlanRequest& request) {
  const base::Interrupt interrupt;
  ASSIGN_OR_RETURN(const std::unique_ptr<service::PlanningClient> client,
                   service::PlanningClient::Connect(address));
  ProgressDisplay display(context.err, context.terminal, context.clock);
  return client->MakePlan(
      request,
      [&](const v1::PlanProgress& progress) { display.Show(progress); },
      interrupt.token());
}

absl::StatusOr<v1::Plan> PlanLocally(const Context& context,
                                     const PlanFlags& flags,
                                     const v1::DeviceSpec& devices,
                                     const v1::PlanRequest& request) {
  ASSIGN_OR_RETURN(const std::unique_ptr<store::ProfileStore> store,
                   OpenStore(flags.store));
  LocalCluster::Options options;
  options.clock = context.clock;
  options.plan = MakePlanFunction(store.get());
  options.devices = devices;
  ASSIGN_OR_RETURN(const std::unique_ptr<LocalCluster> cluster,
                   LocalCluster::Start(std::move(options)));
  return AskCoordinator(context, cluster->address(), request);
}

absl::Status Plan(const Context& context, const PlanFlags& flags) {
  ASSIGN_OR_RETURN(const v1::PlanRequest request, ToRequest(flags));
  const bool local = flags.coordinator.empty();
  ASSIGN_OR_RETURN(
      const v1::DeviceSpec devices,
      ToDeviceSpec(flags.devices, DeviceCount(request.mesh()), local));
  for (const std::string& path : {flags.output, flags.stages.trace}) {
    if (!path.empty()) RETURN_IF_ERROR(CheckWritable(path));
  }

  const absl::StatusOr<v1::Plan> planned =
      flags.symbolic ? planning::MakeSymbolicPlan(request)
      : local        ? PlanLocally(context, flags, devices, request)
                     : AskCoordinator(context, flags.coordinator, request);
  if (!planned.ok()) return NameModel(planned.status(), flags.model);
  const v1::Plan& plan = *planned;
  const std::string json = PlanToJson(plan);
  if (!flags.output.empty()) {
    RETURN_IF_ERROR(base::WriteFile(flags.output, json));
    *context.err << "wrote " << flags.output << "\n";
  }
  if (!flags.stages.trace.empty()) {
    if (plan.feasible()) {
      ASSIGN_OR_RETURN(const std::string trace, TraceStages(plan));
      RETURN_IF_ERROR(base::WriteFile(flags.stages.trace, trace));
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
  verb->add_option("model", flags->model,
                   "MODEL.hlo.pb or HLO text of a training step")
      ->required();
  verb->add_option("--mesh", flags->mesh, "devices per axis, like 1x2")
      ->required();
  verb->add_option("--device-memory", flags->device_memory,
                   "limit per device, like 16GiB (default: none)");
  CLI::Option* const store =
      verb->add_option("--store", flags->store,
                       "profile store (default: in the user's data folder)");
  CLI::Option* const coordinator = verb->add_option(
      "--coordinator", flags->coordinator,
      "HOST:PORT of a running coordinator (default: starts its own)");
  coordinator->excludes(store);
  verb->add_option("-o,--output", flags->output, "file to write the plan to");
  verb->add_flag("--no-wait", flags->no_wait,
                 "measure nothing, plan from the measurements in the store");
  verb->add_flag("--unknown-machine", flags->unknown_machine,
                 "like --no-wait, using rows stored without a device "
                 "fingerprint");
  verb->add_flag("--full-space", flags->full_space,
                 "measure every program, exclude none");
  verb->add_flag("--retry-failures", flags->retry_failures,
                 "run programs that failed before once more");
  verb->add_option(
      "--xla-flags", flags->xla_flags,
      "XLA_FLAGS, like --xla-flags=--xla_cpu_enable_fast_math=true; "
      "measurements with other flags are not used");
  CLI::Option* const symbolic =
      verb->add_flag("--symbolic", flags->symbolic,
                     "measure nothing and need no device, plan by roofline")
          ->excludes(store)
          ->excludes(coordinator);
  AddStageFlags(*verb, &flags->stages)->excludes(symbolic);
  AddStrategyFlags(*verb, &flags->strategies);
  AddDeviceFlags(*verb, &flags->devices);
}

}  // namespace meshwright::cli
