#include "cli/stage_flags.h"

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "cli/arguments.h"

namespace meshwright::cli {
namespace {

// Bytes per second, written as bytes; 0 where nothing is.
absl::StatusOr<double> Bandwidth(const char* flag, const std::string& text) {
  if (text.empty()) return 0.0;
  const auto bytes = ParseBytes(text);
  if (bytes.ok()) return static_cast<double>(*bytes);
  return absl::InvalidArgumentError(
      absl::StrCat(flag, ": ", std::string(bytes.status().message())));
}

}  // namespace

CLI::Option* AddStageFlags(CLI::App& verb, StageFlags* flags) {
  CLI::Option* const stages = verb.add_flag(
      "--stages", flags->stages,
      "cut the model into pipeline stages; --mesh is then the cluster, hosts "
      "x devices, and MODEL the training step of one micro-batch (or a step "
      "that loops over its micro-batches)");
  verb.add_option("--micro-batches", flags->micro_batches,
                  "how many of them make a step; their gradients add up, one "
                  "update follows (default: the trips of the model's loop)")
      ->needs(stages);
  verb.add_option("--schedule", flags->schedule,
                  "gpipe, 1f1b, eager-1f1b or eager-1f1b-delay (default: the "
                  "fastest)")
      ->needs(stages);
  verb.add_option("--bandwidth", flags->bandwidth,
                  "bytes per second between hosts, each way of a host's port, "
                  "like 12.5GB")
      ->needs(stages);
  verb.add_option("--device-bandwidth", flags->device_bandwidth,
                  "the same of a device's port within a host (default: as "
                  "between hosts)")
      ->needs(stages);
  verb.add_flag("--no-overlap", flags->no_overlap,
                "a stage does not compute while its tensors travel")
      ->needs(stages);
  verb.add_option("--trace", flags->trace,
                  "write the pipeline's timeline for Perfetto")
      ->needs(stages);
  return stages;
}

absl::Status ToStageRequest(const StageFlags& flags, v1::PlanRequest* request) {
  if (!flags.stages) return absl::OkStatus();
  v1::StageRequest& stages = *request->mutable_stages();
  if (flags.micro_batches.has_value()) {
    if (*flags.micro_batches < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("--micro-batches is ", *flags.micro_batches,
                       "; a step has at least 1"));
    }
    stages.set_micro_batches(*flags.micro_batches);
  }
  stages.set_schedule(flags.schedule);
  ASSIGN_OR_RETURN(const double host,
                   Bandwidth("--bandwidth", flags.bandwidth));
  ASSIGN_OR_RETURN(const double device,
                   Bandwidth("--device-bandwidth", flags.device_bandwidth));
  stages.set_host_bytes_per_second(host);
  stages.set_device_bytes_per_second(device);
  stages.set_no_overlap(flags.no_overlap);
  return absl::OkStatus();
}

}  // namespace meshwright::cli
