// HeatCounter: how often heat held the processors' clocks down.
//
// Concept: the kernel counts the events of every core and package since it
// started. A difference says that what ran meanwhile was slowed down.
// Threads: any. Errors: none; where the kernel does not say (virtual machines,
// other makers' processors), the count stays 0.
// Source: Linux, Documentation/ABI/testing/sysfs-devices-system-cpu
// (thermal_throttle).
#ifndef MESHWRIGHT_WORKER_DEVICES_HEAT_COUNTER_H_
#define MESHWRIGHT_WORKER_DEVICES_HEAT_COUNTER_H_

#include <cstdint>
#include <filesystem>
#include <vector>

#include "worker/devices/machine.h"

namespace meshwright::worker::devices {

class HeatCounter {
 public:
  // `root`: of /sys.
  explicit HeatCounter(
      std::filesystem::path root = "/",
      const std::vector<int>& processors = FindOwnProcessors());

  int64_t Count() const;

 private:
  std::vector<std::filesystem::path> files_;  // that there are
};

}  // namespace meshwright::worker::devices

#endif  // MESHWRIGHT_WORKER_DEVICES_HEAT_COUNTER_H_
