#include "worker/devices/machine.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "worker/devices/control_groups.h"

namespace meshwright::worker::devices {
namespace {

// The number after `label` in a file of "label: number" lines.
std::optional<double> NumberAfter(const std::filesystem::path& path,
                                  absl::string_view label) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    absl::string_view rest = line;
    if (!absl::ConsumePrefix(&rest, label)) continue;
    const size_t start = rest.find_first_of("0123456789");
    if (start == absl::string_view::npos) continue;
    rest.remove_prefix(start);
    double value = 0;
    if (absl::SimpleAtod(rest.substr(0, rest.find_first_not_of("0123456789.")),
                         &value)) {
      return value;
    }
  }
  return std::nullopt;
}

std::optional<int64_t> MemoryBytes(const std::filesystem::path& root,
                                   absl::string_view label) {
  const auto kilobytes = NumberAfter(root / "proc/meminfo", label);
  if (!kilobytes.has_value()) return std::nullopt;
  return static_cast<int64_t>(*kilobytes) * 1024;
}

}  // namespace

void AvoidThreadPoolDeadlock() {
  constexpr char kFlag[] = "xla_cpu_use_xnnpack";
  const char* const set = std::getenv("XLA_FLAGS");
  const std::string flags = set == nullptr ? "" : set;
  if (flags.find(kFlag) != std::string::npos) return;
  setenv("XLA_FLAGS", absl::StrCat(flags, " --", kFlag, "=false").c_str(), 1);
}

bool DieWith(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  return getppid() == parent;
}

std::vector<int> FindOwnProcessors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> processors;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return processors;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set)) processors.push_back(i);
  }
  return processors;
}

std::optional<int64_t> ReadTotalMemoryBytes(const std::filesystem::path& root) {
  const auto total = MemoryBytes(root, "MemTotal:");
  const auto quota = FindMemoryQuota(root);
  if (!quota.has_value()) return total;
  return std::min(total.value_or(quota->limit), quota->limit);
}

std::optional<int64_t> ReadAvailableMemoryBytes(
    const std::filesystem::path& root) {
  const auto available = MemoryBytes(root, "MemAvailable:");
  const auto quota = FindMemoryQuota(root);
  if (!quota.has_value()) return available;
  return std::min(available.value_or(quota->available), quota->available);
}

std::string DescribeState() {
  std::ifstream file("/proc/loadavg");
  std::string load = "unknown";
  file >> load;
  std::string state = absl::StrCat("load ", load);
  const auto megahertz = NumberAfter("/proc/cpuinfo", "cpu MHz");
  if (megahertz.has_value()) {
    absl::StrAppend(&state, ", ", static_cast<int64_t>(*megahertz), " MHz");
  }
  return state;
}

}  // namespace meshwright::worker::devices
