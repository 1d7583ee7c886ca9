// Sensors: what a GPU says of itself, from NVML.
//
// Concept: clocks, power, heat, throttling and memory errors go beside every
// measurement; what the device is (UUID, MIG, power limit) into the
// fingerprint. NVML is opened at run time and comes with the driver. It counts
// devices by their place on the bus, so a runner is started with
// CUDA_DEVICE_ORDER=PCI_BUS_ID, and CUDA_VISIBLE_DEVICES says which are its
// own, by number or UUID.
// Units: as the fields say. A question that the device does not answer leaves
// its field 0.
// Threads: one.
// Errors: of Open: kFailedPrecondition, one sentence with the way out.
// Source: nvml.h, whose functions keep their ABI.
#ifndef MESHWRIGHT_WORKER_DEVICES_SENSORS_H_
#define MESHWRIGHT_WORKER_DEVICES_SENSORS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/v1/device.pb.h"
#include "proto/v1/profile.pb.h"

namespace meshwright::worker::devices {

class Sensors {
 public:
  // Of the first device that this process sees. `library`: another than the
  // driver's, for tests.
  static absl::StatusOr<std::unique_ptr<Sensors>> Open(
      const std::string& library = "libnvidia-ml.so.1");
  ~Sensors();
  Sensors(const Sensors&) = delete;
  Sensors& operator=(const Sensors&) = delete;

  v1::DeviceSensors Read() const;
  // "GPU-4c5f..."; empty: it has none.
  std::string Uuid() const;
  // Adds MIG and the power limit.
  void Describe(v1::DeviceFingerprint& fingerprint) const;

 private:
  struct Functions;
  Sensors();

  std::unique_ptr<Functions> functions_;
  void* device_ = nullptr;
};

// The UUID of the first device that this process sees. Where there is none,
// `plugin_name`, which numbers devices within a gang or a process.
std::string NameFirstDevice(const std::string& platform,
                            const std::string& plugin_name);

// The name of every bit that holds clocks down; of idleness, and of clocks that
// someone set, there is none.
std::vector<std::string> NameThrottleReasons(uint64_t bits);

}  // namespace meshwright::worker::devices

#endif  // MESHWRIGHT_WORKER_DEVICES_SENSORS_H_
