#include "cli/flags/stage_flags.h"

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "cli/flags/arguments.h"

namespace meshwright::cli {
namespace {

// Bytes per second, written as bytes; nothing: `figure` stays.
absl::Status TakeBandwidth(const char* flag, const std::string& text,
                           double* figure) {
  if (text.empty()) return absl::OkStatus();
  const auto bytes = ParseBytes(text);
  if (!bytes.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(flag, ": ", std::string(bytes.status().message())));
  }
  *figure = static_cast<double>(*bytes);
  return absl::OkStatus();
}

}  // namespace

std::vector<CLI::Option*> AddStageTerms(CLI::App& verb, StageFlags* flags) {
  return {
      verb.add_option(
          "--micro-batches", flags->micro_batches,
          "number of micro-batches per step, whose gradients add up "
          "(default: the trip count of the model's loop)"),
      verb.add_option("--schedule", flags->schedule,
                      "gpipe, 1f1b, eager-1f1b or eager-1f1b-delay (default: "
                      "the fastest)"),
      verb.add_option("--bandwidth", flags->bandwidth,
                      "bytes per second of a host's port in each direction, "
                      "like 12.5GB"),
      verb.add_option("--device-bandwidth", flags->device_bandwidth,
                      "bytes per second of a device's port within a host "
                      "(default: --bandwidth)"),
      verb.add_flag("--no-overlap", flags->no_overlap,
                    "a stage does not compute while it transfers tensors")};
}

CLI::Option* AddStageFlags(CLI::App& verb, StageFlags* flags) {
  CLI::Option* const stages = verb.add_flag(
      "--stages", flags->stages,
      "cut the model into pipeline stages; --mesh is the cluster (hosts x "
      "devices) and the model is the step of one micro-batch, or a step that "
      "loops over its micro-batches");
  constexpr char kTitle[] = "Pipeline stages";
  stages->group(kTitle);
  for (CLI::Option* const it : AddStageTerms(verb, flags)) {
    it->needs(stages)->group(kTitle);
  }
  verb.add_option("--trace", flags->trace,
                  "file to write the pipeline's timeline to, for Perfetto")
      ->needs(stages)
      ->group(kTitle);
  return stages;
}

bool HasStageTerms(const StageFlags& flags) {
  return flags.micro_batches.has_value() || !flags.schedule.empty() ||
         !flags.bandwidth.empty() || !flags.device_bandwidth.empty() ||
         flags.no_overlap;
}

absl::Status TakeStageTerms(const StageFlags& flags, v1::StageRequest* stages) {
  if (flags.micro_batches.has_value()) {
    if (*flags.micro_batches < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("--micro-batches is ", *flags.micro_batches,
                       "; a step has at least 1"));
    }
    stages->set_micro_batches(*flags.micro_batches);
  }
  if (!flags.schedule.empty()) stages->set_schedule(flags.schedule);
  double host = stages->host_bytes_per_second();
  double device = stages->device_bytes_per_second();
  RETURN_IF_ERROR(TakeBandwidth("--bandwidth", flags.bandwidth, &host));
  RETURN_IF_ERROR(
      TakeBandwidth("--device-bandwidth", flags.device_bandwidth, &device));
  stages->set_host_bytes_per_second(host);
  stages->set_device_bytes_per_second(device);
  if (flags.no_overlap) stages->set_no_overlap(true);
  return absl::OkStatus();
}

absl::Status ToStageRequest(const StageFlags& flags, v1::PlanRequest* request) {
  if (!flags.stages) return absl::OkStatus();
  return TakeStageTerms(flags, request->mutable_stages());
}

}  // namespace meshwright::cli
