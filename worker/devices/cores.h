// Cores: the processors that this process may use.
//
// Concept: its affinity, and the CPU quota of the control groups that it is in
// (control_groups.h). Threads: any. Errors: none.
#ifndef MESHWRIGHT_WORKER_DEVICES_CORES_H_
#define MESHWRIGHT_WORKER_DEVICES_CORES_H_

#include <filesystem>
#include <vector>

namespace meshwright::worker::devices {

// Those whose whole time it may use, by number, rising. None in a container
// whose CPU quota is below their number: what keeps them busy there takes from
// what is timed.
std::vector<int> ListOwnCores();

// How many processors' time it may use: those of its affinity, at most the
// quota, rounded up. At least one. `root`: where /proc and /sys are.
int CountUsableCores(const std::filesystem::path& root = "/");

}  // namespace meshwright::worker::devices

#endif  // MESHWRIGHT_WORKER_DEVICES_CORES_H_
