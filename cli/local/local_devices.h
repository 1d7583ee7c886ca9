// The devices of a command that measures on this machine.
//
// Errors: those of ToDeviceSpec (device_flags.h).
#ifndef MESHWRIGHT_CLI_LOCAL_LOCAL_DEVICES_H_
#define MESHWRIGHT_CLI_LOCAL_LOCAL_DEVICES_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "cli/flags/device_flags.h"
#include "proto/v1/device.pb.h"

namespace meshwright::cli {

// Hides all GPUs but the first `device_count` from runners
// (worker/devices/device_choice.h).
absl::StatusOr<v1::DeviceSpec> TakeLocalDevices(const DeviceFlags& flags,
                                                int64_t device_count);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_LOCAL_LOCAL_DEVICES_H_
