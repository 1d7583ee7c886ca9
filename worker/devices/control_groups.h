// The control groups that limit this process: a container, a systemd slice, a
// Slurm job.
//
// Units: processors, bytes. Threads: pure functions of files. Errors: none;
// what cannot be read limits nothing. `root`: where /proc and /sys are.
// Source: Linux, Documentation/admin-guide/cgroup-v2.rst (cpu.max, cpu.stat,
// memory.max, memory.current), scheduler/sched-bwc.rst (cpu.cfs_quota_us) and
// admin-guide/cgroup-v1/memory.rst (memory.limit_in_bytes).
#ifndef MESHWRIGHT_WORKER_DEVICES_CONTROL_GROUPS_H_
#define MESHWRIGHT_WORKER_DEVICES_CONTROL_GROUPS_H_

#include <cstdint>
#include <filesystem>
#include <optional>

#include "absl/time/time.h"

namespace meshwright::worker::devices {

// The least CPU time per time over the groups that this process is in, from
// its own up to the root; none without a limit.
std::optional<double> FindCpuQuota(const std::filesystem::path& root = "/");

// How long processors were taken from these groups because a quota was spent.
absl::Duration ReadThrottledTime(const std::filesystem::path& root = "/");

struct MemoryQuota {
  int64_t limit = 0;
  int64_t available = 0;  // of it; files that can be dropped are not in use
};
// Of the group with the least limit, and of the one with the least available;
// none without a limit.
std::optional<MemoryQuota> FindMemoryQuota(
    const std::filesystem::path& root = "/");

}  // namespace meshwright::worker::devices

#endif  // MESHWRIGHT_WORKER_DEVICES_CONTROL_GROUPS_H_
