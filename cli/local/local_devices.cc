#include "cli/local/local_devices.h"

#include "base/status_macros.h"
#include "worker/devices/device_choice.h"

namespace meshwright::cli {

absl::StatusOr<v1::DeviceSpec> TakeLocalDevices(const DeviceFlags& flags,
                                                int64_t device_count) {
  ASSIGN_OR_RETURN(v1::DeviceSpec device,
                   ToDeviceSpec(flags, device_count, true));
  if (device.platform() == "cuda" && !device.solo()) {
    worker::devices::ShowDevicesOfMesh(device_count);
  }
  return device;
}

}  // namespace meshwright::cli
