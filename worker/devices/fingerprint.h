// The machine's part of the device fingerprint (proto/v1/device.proto): the
// fields that no plugin knows.
//
// Concept: two machines with equal fingerprints run a program equally fast, so
// they share rows. Only what changes times is in it: no host name, no serial
// number, no load.
// Units: memory in GiB, rounded, so that what firmware keeps for itself does
// not tell equal machines apart. Threads: pure functions of files.
// Errors: none; what a machine does not say stays empty.
#ifndef MESHWRIGHT_WORKER_DEVICES_FINGERPRINT_H_
#define MESHWRIGHT_WORKER_DEVICES_FINGERPRINT_H_

#include <cstdint>
#include <filesystem>

#include "proto/v1/device.pb.h"

namespace meshwright::worker::devices {

// Of virtual devices on this machine's processors: model, instruction sets that
// the compiler's code may differ by, NUMA nodes and memory. It also has the
// cores that this process may use (its affinity and its container's quota), and
// what governs their clocks.
void DescribeProcessors(v1::DeviceFingerprint& fingerprint,
                        const std::filesystem::path& root = "/");

// Of accelerators: the version of their kernel driver.
void DescribeDriver(v1::DeviceFingerprint& fingerprint,
                    const std::filesystem::path& root = "/");

// Of accelerators: the versions of the libraries that the plugin opens and that
// do not come with it. They are looked for as it looks for them: its copy where
// it has one by now, then the loader's path, then what pip puts beside it.
// Behind them stand the NCCL_ variables of this process that may change times.
void DescribeLibraries(v1::DeviceFingerprint& fingerprint,
                       const std::filesystem::path& plugin);

int64_t RoundToGib(int64_t bytes);

}  // namespace meshwright::worker::devices

#endif  // MESHWRIGHT_WORKER_DEVICES_FINGERPRINT_H_
