#include "cli/flags/change_flags.h"

#include <CLI/CLI.hpp>

#include "base/status_macros.h"
#include "cli/flags/arguments.h"

namespace meshwright::cli {

void AddChangeFlags(CLI::App& verb, ChangeFlags* flags) {
  verb.add_option("--device-memory", flags->device_memory,
                  "another limit per device, like 16GiB");
  CLI::Option* const mesh = verb.add_option(
      "--mesh", flags->mesh, "another mesh, devices per axis, like 1x4");
  verb.add_option("--devices", flags->devices,
                  "the same mesh with this number of devices")
      ->check(CLI::Range(int64_t{1}, kMaximumDevices))
      ->excludes(mesh);
}

absl::StatusOr<v1::WhatIfChange> ParseChange(const ChangeFlags& flags) {
  v1::WhatIfChange change;
  if (!flags.device_memory.empty()) {
    ASSIGN_OR_RETURN(const int64_t bytes, ParseBytes(flags.device_memory));
    change.set_device_memory_bytes(bytes);
  }
  if (!flags.mesh.empty()) {
    ASSIGN_OR_RETURN(*change.mutable_mesh(), ParseMesh(flags.mesh));
  }
  change.set_devices(flags.devices);
  return change;
}

}  // namespace meshwright::cli
