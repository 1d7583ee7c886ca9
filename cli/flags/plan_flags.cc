#include "cli/flags/plan_flags.h"

#include <CLI/CLI.hpp>

#include "base/status_macros.h"
#include "cli/flags/arguments.h"
#include "cli/flags/links_file.h"
#include "cli/flags/plan_file.h"

namespace meshwright::cli {

void AddStepFlags(CLI::App& verb, PlanFlags* flags) {
  verb.add_option("model", flags->model,
                  "MODEL.hlo.pb, HLO text or StableHLO of a training step")
      ->required();
  verb.add_option("--mesh", flags->mesh, "devices per axis, like 1x2")
      ->required();
  verb.add_option("--device-memory", flags->device_memory,
                  "limit per device, like 16GiB (default: none)");
  verb.add_flag("--unknown-machine", flags->unknown_machine,
                "measure nothing, use rows stored without a device "
                "fingerprint");
  verb.add_flag("--full-space", flags->full_space,
                "measure every program, exclude none");
  verb.add_option(
      "--xla-flags", flags->xla_flags,
      "XLA_FLAGS, like --xla-flags=--xla_cpu_enable_fast_math=true; "
      "measurements with other flags are not used");
  AddStrategyFlags(verb, &flags->strategies);
  AddDeviceFlags(verb, &flags->devices);
  verb.add_flag("--solo", flags->devices.solo,
                "one GPU stands for all of the mesh; needs --links");
  verb.add_option(
      "--links", flags->links,
      "with --solo or --symbolic, file with the links of the mesh's axes, or a "
      "cluster file");
}

CLI::Option* AddPlanFlags(CLI::App& verb, PlanFlags* flags) {
  AddStepFlags(verb, flags);
  verb.add_flag("--no-wait", flags->no_wait,
                "measure nothing, plan from the measurements in the store");
  verb.add_flag("--retry-failures", flags->retry_failures,
                "run programs that failed before once more, but for those in "
                "quarantine");
  return AddStageFlags(verb, &flags->stages);
}

absl::StatusOr<v1::PlanRequest> ToPlanRequest(const PlanFlags& flags) {
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
  request.set_solo(flags.devices.solo);
  if (!flags.links.empty()) {
    ASSIGN_OR_RETURN(const base::Links links,
                     LoadLinks(flags.links, request.mesh()));
    for (const base::Link& link : links) {
      v1::AxisLink& axis = *request.add_links();
      axis.set_alpha(link.alpha);
      axis.set_beta(link.beta);
    }
  }
  request.set_plugin_path(flags.devices.plugin);
  request.set_model_name(ParseModelName(flags.model));
  ASSIGN_OR_RETURN(*request.mutable_hlo_module(), LoadModel(flags.model));
  return request;
}

}  // namespace meshwright::cli
