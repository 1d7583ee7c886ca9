#include "worker/devices/control_groups.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace meshwright::worker::devices {
namespace {

namespace fs = std::filesystem;

struct Group {
  fs::path folder;
  bool unified = false;  // of version 2
};

bool Controls(const std::string& controllers, const std::string& wanted) {
  return absl::StrCat(",", controllers, ",")
             .find(absl::StrCat(",", wanted, ",")) != std::string::npos;
}

// Those of a controller that this process is in, its own before those above.
std::vector<Group> FindGroups(const fs::path& root,
                              const std::string& controller) {
  std::vector<Group> groups;
  // Lines of "number:controllers:/group"; version 2 has no controllers.
  std::ifstream file(root / "proc/self/cgroup");
  std::string line;
  while (std::getline(file, line)) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool unified = controllers.empty();
    if (!unified && !Controls(controllers, controller)) continue;
    const fs::path mount =
        unified ? root / "sys/fs/cgroup" : root / "sys/fs/cgroup" / controller;
    fs::path group = fs::path(line.substr(second + 1)).relative_path();
    while (true) {
      groups.push_back({mount / group, unified});
      if (group.empty()) break;
      group = group.parent_path();
    }
  }
  return groups;
}

// A file of one number; none for "max" and for what is not there.
std::optional<int64_t> ReadNumber(const fs::path& path) {
  std::ifstream file(path);
  int64_t number = 0;
  if (!(file >> number)) return std::nullopt;
  return number;
}

// In a file of lines "name number".
std::optional<int64_t> ReadNumber(const fs::path& path,
                                  const std::string& wanted) {
  std::ifstream file(path);
  std::string name;
  int64_t number = 0;
  while (file >> name >> number) {
    if (name == wanted) return number;
  }
  return std::nullopt;
}

// Version 2: "max 100000" or "200000 100000". Version 1: the quota is -1
// without a limit.
std::optional<double> ReadCpuQuota(const Group& group) {
  double quota = 0;
  double period = 0;
  if (group.unified) {
    std::ifstream file(group.folder / "cpu.max");
    if (!(file >> quota >> period)) return std::nullopt;
  } else {
    std::ifstream quota_file(group.folder / "cpu.cfs_quota_us");
    std::ifstream period_file(group.folder / "cpu.cfs_period_us");
    if (!(quota_file >> quota && period_file >> period)) return std::nullopt;
  }
  if (quota <= 0 || period <= 0) return std::nullopt;
  return quota / period;
}

// Without a limit version 1 says nearly the largest number there is.
constexpr int64_t kNoLimit = int64_t{1} << 60;

std::optional<MemoryQuota> ReadMemoryQuota(const Group& group) {
  const auto limit = ReadNumber(
      group.folder / (group.unified ? "memory.max" : "memory.limit_in_bytes"));
  if (!limit.has_value() || *limit <= 0 || *limit >= kNoLimit) {
    return std::nullopt;
  }
  const auto used =
      ReadNumber(group.folder /
                 (group.unified ? "memory.current" : "memory.usage_in_bytes"));
  const auto files =
      ReadNumber(group.folder / "memory.stat",
                 group.unified ? "inactive_file" : "total_inactive_file");
  MemoryQuota quota{*limit, *limit};
  quota.available -= std::max<int64_t>(0, used.value_or(0) - files.value_or(0));
  quota.available = std::max<int64_t>(0, quota.available);
  return quota;
}

}  // namespace

std::optional<double> FindCpuQuota(const fs::path& root) {
  std::optional<double> min_quota;
  for (const Group& group : FindGroups(root, "cpu")) {
    const auto quota = ReadCpuQuota(group);
    if (quota.has_value())
      min_quota = std::min(min_quota.value_or(*quota), *quota);
  }
  return min_quota;
}

absl::Duration ReadThrottledTime(const fs::path& root) {
  absl::Duration longest;
  for (const Group& group : FindGroups(root, "cpu")) {
    const fs::path file = group.folder / "cpu.stat";
    const absl::Duration throttled =
        group.unified
            ? absl::Microseconds(ReadNumber(file, "throttled_usec").value_or(0))
            : absl::Nanoseconds(ReadNumber(file, "throttled_time").value_or(0));
    longest = std::max(longest, throttled);
  }
  return longest;
}

std::optional<MemoryQuota> FindMemoryQuota(const fs::path& root) {
  std::optional<MemoryQuota> min_quota;
  for (const Group& group : FindGroups(root, "memory")) {
    const auto quota = ReadMemoryQuota(group);
    if (!quota.has_value()) continue;
    if (!min_quota.has_value()) min_quota = quota;
    min_quota->limit = std::min(min_quota->limit, quota->limit);
    min_quota->available = std::min(min_quota->available, quota->available);
  }
  return min_quota;
}

}  // namespace meshwright::worker::devices
