// The machine under the runner: its memory, its state, and the environment the
// plugin needs.
#ifndef MESHWRIGHT_WORKER_DEVICES_MACHINE_H_
#define MESHWRIGHT_WORKER_DEVICES_MACHINE_H_

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace meshwright::worker::devices {

// Turns XNNPACK off in the CPU plugin, unless XLA_FLAGS says otherwise; call it
// before the plugin loads. A thunk of XNNPACK waits for threads of the pool
// that an all-reduce of another device may hold: two devices deadlock.
void AvoidThreadPoolDeadlock();

// Has the kernel kill this process when its parent ends; false where `parent`
// is gone already.
bool DieWith(pid_t parent);

// The processors that this process may run on, in ascending order.
std::vector<int> FindOwnProcessors();

// MemTotal and MemAvailable, or what a control group leaves of them; none where
// the system does not say. `root`: of /proc and /sys.
std::optional<int64_t> ReadTotalMemoryBytes(
    const std::filesystem::path& root = "/");
std::optional<int64_t> ReadAvailableMemoryBytes(
    const std::filesystem::path& root = "/");

// One line: load and processor clock.
std::string DescribeState();

}  // namespace meshwright::worker::devices

#endif  // MESHWRIGHT_WORKER_DEVICES_MACHINE_H_
