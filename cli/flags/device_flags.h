// The flags of every verb that measures: --platform, --plugin.
#ifndef MESHWRIGHT_CLI_FLAGS_DEVICE_FLAGS_H_
#define MESHWRIGHT_CLI_FLAGS_DEVICE_FLAGS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "proto/v1/job.pb.h"

namespace CLI {
class App;
}  // namespace CLI

namespace meshwright::cli {

struct DeviceFlags {
  std::string platform = "cpu";
  std::string plugin;
  bool solo = false;  // one device stands for all of a mesh
};

void AddDeviceFlags(CLI::App& verb, DeviceFlags* flags);

// Errors: kInvalidArgument for an unknown platform, kNotFound for a plugin
// that is not there. `local`: the plugin is opened on this machine.
absl::StatusOr<v1::DeviceSpec> ToDeviceSpec(const DeviceFlags& flags,
                                            int64_t device_count, bool local);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_FLAGS_DEVICE_FLAGS_H_
