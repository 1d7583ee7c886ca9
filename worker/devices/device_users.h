// DeviceUsers: who else uses the devices of a worker, this moment.
//
// Concept: a GPU is used by the processes that NVML lists on it, a CPU by
// whatever keeps a quarter of its processors busy. This process and all that it
// started do not count.
//   NVML numbers processes as the host does. A worker with numbers of its own
// (a container without the host's) cannot tell its runner from others. It looks
// at the list only while it has no runner. Only a process that is listed before
// and after the family is read counts: a runner may end in between.
// Threads: one. Errors: of OpenDeviceUsers, those of Sensors::Open.
#ifndef MESHWRIGHT_WORKER_DEVICES_DEVICE_USERS_H_
#define MESHWRIGHT_WORKER_DEVICES_DEVICE_USERS_H_

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/v1/job.pb.h"
#include "worker/devices/load_watch.h"
#include "worker/devices/process_family.h"
#include "worker/devices/sensors.h"

namespace meshwright::worker::devices {

class DeviceUsers {
 public:
  virtual ~DeviceUsers() = default;
  // Who did since the call before, for people; empty: nobody.
  virtual std::string Find() = 0;
};

class GpuUsers : public DeviceUsers {
 public:
  // What NVML lists; the numbers of this process and what it started.
  using ListProcesses = std::function<std::vector<pid_t>()>;
  using ReadFamily = std::function<ProcessFamily()>;

  // `knows_numbers`: this process has the numbers of the host.
  GpuUsers(ListProcesses list, ReadFamily family, bool knows_numbers)
      : list_(std::move(list)),
        family_(std::move(family)),
        knows_numbers_(knows_numbers) {}
  std::string Find() override;

 private:
  const ListProcesses list_;
  const ReadFamily family_;
  const bool knows_numbers_;
};

class ProcessorUsers : public DeviceUsers {
 public:
  // Less is what a machine does that nobody uses.
  static constexpr double kShare = 0.25;

  using ReadLoad = std::function<std::optional<LoadWatch::Reading>()>;
  // `own` of a reading counts the whole family.
  ProcessorUsers(ReadLoad read, int processors)
      : read_(std::move(read)), processors_(processors) {}
  std::string Find() override;

 private:
  const ReadLoad read_;
  const int processors_;
  std::optional<LoadWatch::Reading> last_;
};

// How many devices a worker with this specification has; 0: all there are. One
// that stands for a mesh is one.
int CountOwnDevices(const v1::DeviceSpec& devices);

// Of those devices. `library`: as of Sensors::Open.
absl::StatusOr<std::unique_ptr<DeviceUsers>> OpenDeviceUsers(
    const v1::DeviceSpec& devices,
    const std::string& library = "libnvidia-ml.so.1");

// Whether processes have the numbers here that the host gives them.
bool HasNumbersOfHost(const std::filesystem::path& root = "/");

}  // namespace meshwright::worker::devices

#endif  // MESHWRIGHT_WORKER_DEVICES_DEVICE_USERS_H_
