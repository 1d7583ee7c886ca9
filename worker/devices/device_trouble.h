// FindDeviceTrouble: why GPUs cannot be used, in one sentence.
//
// Concept: a plugin that opens no device often says only that there is none.
// NVML knows more. It is asked in this order, and the first trouble is told:
//   driver   not there, not loaded, other than its library, too old
//   devices  none, or none that CUDA_VISIBLE_DEVICES lets through
//   MIG      on, without an instance
//   mode     prohibited, or exclusive and taken
//   memory   nine tenths or more are held
// A plugin that opened the devices leaves the memory to ask about.
// Threads: one. It opens and leaves NVML.
// Errors: kFailedPrecondition for what a person has to change, kUnavailable for
// what may pass. Each is one sentence with the way out.
// Source: nvml.h, whose functions keep their ABI.
#ifndef MESHWRIGHT_WORKER_DEVICES_DEVICE_TROUBLE_H_
#define MESHWRIGHT_WORKER_DEVICES_DEVICE_TROUBLE_H_

#include <string>

#include "absl/status/status.h"

namespace meshwright::worker::devices {

// `failure`: the plugin's words; empty: it opened the first `count` devices.
// OK where NVML knows of no trouble. `library`: another than the driver's, for
// tests.
absl::Status FindDeviceTrouble(
    const std::string& failure, int count = 0,
    const std::string& library = "libnvidia-ml.so.1");

}  // namespace meshwright::worker::devices

#endif  // MESHWRIGHT_WORKER_DEVICES_DEVICE_TROUBLE_H_
