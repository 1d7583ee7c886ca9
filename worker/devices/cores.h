// Cores: the processors whose whole time this process may use.
#ifndef MESHWRIGHT_WORKER_DEVICES_CORES_H_
#define MESHWRIGHT_WORKER_DEVICES_CORES_H_

#include <vector>

namespace meshwright::worker::devices {

// By number, rising. None in a container whose CPU quota is below their number:
// what keeps them busy there takes from what is timed. Threads: any.
std::vector<int> ListOwnCores();

}  // namespace meshwright::worker::devices

#endif  // MESHWRIGHT_WORKER_DEVICES_CORES_H_
