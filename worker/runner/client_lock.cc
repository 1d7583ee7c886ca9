#include "worker/runner/client_lock.h"

#include "worker/devices/sensors.h"

namespace meshwright::worker::runner {

absl::StatusOr<std::unique_ptr<devices::TimingLock>> OpenClientLock(
    const pjrt::Client& client) {
  return devices::TimingLock::Open(devices::NameTimingGroups(
      client.platform_name(),
      devices::NameDevices(client.platform_name(), client.device_name(),
                           client.resident_count())));
}

}  // namespace meshwright::worker::runner
