#include "cli/flags/device_flags.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace meshwright::cli {

void AddDeviceFlags(CLI::App& verb, DeviceFlags* flags) {
  verb.add_option("--platform", flags->platform, "cpu or cuda")
      ->capture_default_str();
  verb.add_option("--plugin", flags->plugin,
                  "PJRT plugin (default: the bundled CPU plugin)");
}

absl::StatusOr<v1::DeviceSpec> ToDeviceSpec(const DeviceFlags& flags,
                                            int64_t device_count, bool local) {
  if (flags.platform != "cpu" && flags.platform != "cuda") {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown platform \"", flags.platform,
                     "\"; the known ones are cpu and cuda"));
  }
  std::error_code ignored;
  if (local && !flags.plugin.empty() &&
      !std::filesystem::is_regular_file(flags.plugin, ignored)) {
    return absl::NotFoundError(
        absl::StrCat("there is no PJRT plugin at ", flags.plugin));
  }
  v1::DeviceSpec device;
  device.set_platform(flags.platform);
  device.set_plugin_path(flags.plugin);
  device.set_device_count(static_cast<int32_t>(device_count));
  device.set_solo(flags.solo);
  return device;
}

}  // namespace meshwright::cli
