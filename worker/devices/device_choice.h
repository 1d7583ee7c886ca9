// ChooseDevices: which devices a worker works on.
//
// Concept: "8" is a number of devices, the first that are visible; "0,2", "2,"
// and "GPU-4c5f..." name those of NVIDIA's, by their place on the bus or their
// UUID, as nvidia-smi -L lists them. Nothing means 8 virtual devices of a CPU,
// or all of another platform. Where one device stands for a mesh, the number is
// the mesh's.
//   A command that measures here shows its runners the devices of its mesh
// alone: CUDA opens, and a measurement locks, every device that is visible. The
// fingerprint still says how many there are, so meshes of all sizes share rows.
// Errors: kInvalidArgument, one sentence that names what is wrong.
// Threads: none beside it: it sets variables of the environment, which runners
// inherit.
#ifndef MESHWRIGHT_WORKER_DEVICES_DEVICE_CHOICE_H_
#define MESHWRIGHT_WORKER_DEVICES_DEVICE_CHOICE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "proto/v1/job.pb.h"

namespace meshwright::worker::devices {

// Sets the device count of `devices`, whose platform and solo are set; 0: all
// there are. Hides the other GPUs from this process and its runners.
absl::Status ChooseDevices(const std::string& text, v1::DeviceSpec& devices);

// Hides all GPUs but the first `count`, where NVML says how many there are.
// `library`: another than the driver's, for tests.
void ShowDevicesOfMesh(int64_t count,
                       const std::string& library = "libnvidia-ml.so.1");

// Of this process, which opened `opened`: the devices that were visible before
// ShowDevicesOfMesh, in a parent of it, hid some.
int CountDevicesOfHost(int opened);

}  // namespace meshwright::worker::devices

#endif  // MESHWRIGHT_WORKER_DEVICES_DEVICE_CHOICE_H_
