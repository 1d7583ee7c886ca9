#include "worker/devices/cores.h"

#include <sched.h>

#include <optional>

#include "worker/devices/control_groups.h"

namespace meshwright::worker::devices {

std::vector<int> ListOwnCores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return {};
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &allowed)) cores.push_back(core);
  }
  const std::optional<double> quota = FindCpuQuota();
  if (quota.has_value() && *quota < static_cast<double>(cores.size())) {
    return {};
  }
  return cores;
}

}  // namespace meshwright::worker::devices
