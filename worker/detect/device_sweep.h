// SweepDevices: all timings of a plugin's devices, by processes that may die.
//
// Concept: plugins end processes. A child opens the plugin and its devices, and
// times one series after the other. A series that fails, or that the child dies
// in, is left out with its reason; another child goes on with the next one.
//
//   child:  open ─▶ begin i ─▶ timings, or a failure ─▶ begin i+1 ─▶ .. ─▶ done
//                      └─ dies: the next child begins with i+1
//
// The child holds the lock of timings on its devices (worker/devices/
// timing_lock.h). It is a fork of this process and runs no other program, so
// that nothing has to be found.
// In → Out: a plugin → timings and what is missing; series in the order of
// ListDeviceSeries (device_timing.h).
// Threads: call it while there is one thread, which has opened no plugin.
// Errors: kUnavailable for a plugin that ends the process that opens it, those
// of Plugin::Load and Client::Create (worker/pjrt), kInvalidArgument for fewer
// than two devices, kDeadlineExceeded where another process times them for ten
// minutes.
#ifndef MESHWRIGHT_WORKER_DETECT_DEVICE_SWEEP_H_
#define MESHWRIGHT_WORKER_DETECT_DEVICE_SWEEP_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/cluster/detection.h"
#include "worker/detect/device_timing.h"

namespace meshwright::worker::detect {

struct DeviceSweepOptions {
  std::string plugin;  // its path
  std::string platform = "cpu";
  int devices = 2;  // 0: all of another platform than cpu
  int64_t maximum_bytes = 16 << 20;
  std::function<void(const std::string&)> report;  // before each series
};

struct MissingSeries {
  DeviceSeries series;
  std::string reason;
};

struct DeviceSweep {
  size_t devices = 0;
  std::vector<cluster::GroupTiming> timings;
  std::vector<MissingSeries> missing;
};

absl::StatusOr<DeviceSweep> SweepDevices(const DeviceSweepOptions& options);

}  // namespace meshwright::worker::detect

#endif  // MESHWRIGHT_WORKER_DETECT_DEVICE_SWEEP_H_
