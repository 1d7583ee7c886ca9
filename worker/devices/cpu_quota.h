// How much of the machine's CPU time this process may use, where a control
// group (a container, a systemd slice, a Slurm job) limits it.
//
// Units: processors. Errors: none; what cannot be read limits nothing.
// Source: Linux, Documentation/admin-guide/cgroup-v2.rst (cpu.max) and
// scheduler/sched-bwc.rst (cpu.cfs_quota_us).
#ifndef MESHWRIGHT_WORKER_DEVICES_CPU_QUOTA_H_
#define MESHWRIGHT_WORKER_DEVICES_CPU_QUOTA_H_

#include <filesystem>
#include <optional>

namespace meshwright::worker::devices {

// The least over the groups that this process is in, from its own up to the
// root; none without a limit. `root`: where /proc and /sys are.
std::optional<double> CpuQuota(const std::filesystem::path& root = "/");

}  // namespace meshwright::worker::devices

#endif  // MESHWRIGHT_WORKER_DEVICES_CPU_QUOTA_H_
