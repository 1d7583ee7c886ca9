#include "worker/devices/cpu_quota.h"

#include <algorithm>
#include <fstream>
#include <string>

namespace meshwright::worker::devices {
namespace {

namespace fs = std::filesystem;

void Limit(double quota, double period, std::optional<double>& least) {
  if (quota <= 0 || period <= 0) return;
  least = std::min(least.value_or(quota / period), quota / period);
}

// Version 2: "max 100000" or "200000 100000".
void LimitUnified(const fs::path& group, std::optional<double>& least) {
  std::ifstream file(group / "cpu.max");
  double quota = 0;
  double period = 0;
  if (file >> quota >> period) Limit(quota, period, least);
}

// Version 1: the quota is -1 without a limit.
void LimitSeparate(const fs::path& group, std::optional<double>& least) {
  std::ifstream quota_file(group / "cpu.cfs_quota_us");
  std::ifstream period_file(group / "cpu.cfs_period_us");
  double quota = 0;
  double period = 0;
  if (quota_file >> quota && period_file >> period) {
    Limit(quota, period, least);
  }
}

bool Controls(const std::string& controllers) {
  return ("," + controllers + ",").find(",cpu,") != std::string::npos;
}

}  // namespace

std::optional<double> CpuQuota(const fs::path& root) {
  std::optional<double> least;
  // Lines of "number:controllers:/group"; version 2 has no controllers.
  std::ifstream groups(root / "proc/self/cgroup");
  std::string line;
  while (std::getline(groups, line)) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool unified = controllers.empty();
    if (!unified && !Controls(controllers)) continue;
    const fs::path mount =
        unified ? root / "sys/fs/cgroup" : root / "sys/fs/cgroup/cpu";
    fs::path group = fs::path(line.substr(second + 1)).relative_path();
    while (true) {
      unified ? LimitUnified(mount / group, least)
              : LimitSeparate(mount / group, least);
      if (group.empty()) break;
      group = group.parent_path();
    }
  }
  return least;
}

}  // namespace meshwright::worker::devices
