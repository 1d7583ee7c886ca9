#include "worker/devices/cores.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "worker/devices/control_groups.h"

namespace meshwright::worker::devices {
namespace {

std::vector<int> ListAllowedCores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return {};
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &allowed)) cores.push_back(core);
  }
  return cores;
}

}  // namespace

std::vector<int> ListOwnCores() {
  std::vector<int> cores = ListAllowedCores();
  const std::optional<double> quota = FindCpuQuota();
  if (quota.has_value() && *quota < static_cast<double>(cores.size())) {
    return {};
  }
  return cores;
}

int CountUsableCores(const std::filesystem::path& root) {
  double cores = static_cast<double>(ListAllowedCores().size());
  const std::optional<double> quota = FindCpuQuota(root);
  if (quota.has_value()) cores = std::min(cores, std::ceil(*quota));
  return std::max(static_cast<int>(cores), 1);
}

}  // namespace meshwright::worker::devices
