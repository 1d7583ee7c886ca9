// TimeDeviceSeries: what collectives between the devices of a plugin take.
//
// Concept: the plugin's own library moves the bytes, NCCL between GPUs, so that
// times are those of a training step. Every pair is timed by a permute that
// moves bytes between these two alone; all-reduce, all-gather, reduce-scatter
// and all-to-all run in groups of consecutive devices of every size that
// divides their number, all groups at once. Programs of one series take turns
// with one that does nothing, whose time is subtracted (what a launch costs).
// Nothing else may time on these devices meanwhile (device_sweep.h).
//   Plugins have no broadcast that can be timed alone; it is left out.
// In → Out: a client, a series → timings; device i of the client is DeviceIndex
// i.
// Units: bytes held per device before the step, seconds.
// Threads: one.
// Errors: those of Client::Compile, Upload and Execute (worker/pjrt/client.h).
// Source: papers/map_colossal_auto.txt 4.2.
#ifndef MESHWRIGHT_WORKER_DETECT_DEVICE_TIMING_H_
#define MESHWRIGHT_WORKER_DETECT_DEVICE_TIMING_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/cluster/detection.h"
#include "worker/pjrt/client.h"

namespace meshwright::worker::detect {

// One operation in one group, all sizes.
struct DeviceSeries {
  cluster::Operation operation = cluster::Operation::kSendReceive;
  std::vector<cluster::DeviceIndex> devices;
};

// Every pair, then the groups.
std::vector<DeviceSeries> ListDeviceSeries(size_t devices);

absl::StatusOr<std::vector<cluster::GroupTiming>> TimeDeviceSeries(
    const pjrt::Client& client, const DeviceSeries& series,
    int64_t maximum_bytes);

}  // namespace meshwright::worker::detect

#endif  // MESHWRIGHT_WORKER_DETECT_DEVICE_TIMING_H_
