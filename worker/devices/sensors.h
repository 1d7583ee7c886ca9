// Sensors: what a GPU says of itself, from NVML.
//
// Concept: clocks, power, heat, throttling and memory errors go beside every
// measurement; what the device is (MIG, power limit, links) into the
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

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/v1/device.pb.h"
#include "proto/v1/profile.pb.h"

namespace meshwright::worker::devices {

struct Nvml;

// Of a device, by places on the bus.
struct LinkEnds {
  std::string place;                  // its own, "0000:1b:00"
  std::vector<std::string> devices;   // at the other ends
  std::vector<std::string> switches;  // there, too
};

class Sensors {
 public:
  // Of the first devices that this process sees, at most `count`; 0: of all.
  // `library`: another than the driver's, for tests.
  static absl::StatusOr<std::unique_ptr<Sensors>> Open(
      int count, const std::string& library = "libnvidia-ml.so.1");
  ~Sensors();
  Sensors(const Sensors&) = delete;
  Sensors& operator=(const Sensors&) = delete;

  // Of several devices: the lowest clocks and power limit, the highest heat,
  // power and use, all throttle reasons, and the sum of the errors.
  v1::DeviceSensors Read() const;
  // What other processes use of the devices' time, as the largest share of one
  // of them in NVML's last period (up to a second) that ended after `since`.
  // nullopt where NVML does not say, or counts processes by other numbers than
  // this one's, as in a container.
  std::optional<double> ReadUseByOthers(absl::Time since) const;
  // The processes that compute on any of the devices, by the host's numbers;
  // none where NVML does not say.
  std::vector<pid_t> ListProcesses() const;
  // "GPU-4c5f..." of each device; empty: it has none.
  std::vector<std::string> Uuids() const;
  // The places of the devices on the bus, and the other ends of their links
  // (NVLink) that are up; empty where NVML does not say.
  std::vector<LinkEnds> ReadLinks() const;
  // Adds the driver where it is not known, MIG, the lowest power limit, the
  // classes of the links, and clocks that somebody chose. (NVML does not say
  // whether nvidia-smi -lgc locked them.)
  void Describe(v1::DeviceFingerprint& fingerprint) const;

 private:
  Sensors();
  v1::DeviceSensors Read(void* device) const;
  std::string NameLinks(void* device) const;
  std::string NameClocks(void* device) const;
  std::vector<pid_t> ListProcesses(void* device) const;

  std::unique_ptr<Nvml> functions_;
  bool is_initialized_ = false;  // NVML counts who is to shut it down
  std::vector<void*> devices_;   // at least one
};

// The UUIDs of the first `count` devices that this process sees. Where one has
// none, `plugin_name`, which numbers devices within a gang or a process.
std::vector<std::string> NameDevices(const std::string& platform,
                                     const std::string& plugin_name, int count);

// By heat or brakes. A cap of power is how a busy device runs, and a display or
// GPUs that boost together hold clocks down at all times.
bool IsThrottled(const v1::DeviceSensors& sensors);

// The name of every bit that holds clocks down; of idleness, and of clocks that
// someone set, there is none.
std::vector<std::string> NameThrottleReasons(uint64_t bits);

}  // namespace meshwright::worker::devices

#endif  // MESHWRIGHT_WORKER_DEVICES_SENSORS_H_
