#include "coordinator/jobs/worker_port.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "coordinator/jobs/device_digest.h"

namespace meshwright::jobs {
namespace {

// The rest of a sentence; empty where the number is no difference.
std::string NameOtherCount(int32_t plans, int32_t workers) {
  if (plans == workers) return "";
  return absl::StrCat(", ", workers, " of them on its host and not ", plans,
                      "; submit the plan again, or start a worker that has ",
                      plans);
}

}  // namespace

absl::Status CanRun(const WorkerDescription& worker,
                    const v1::DeviceSpec& device,
                    const DeviceDescription* exactly) {
  const DeviceDescription& has = worker.devices;
  const std::string wanted =
      device.platform().empty() ? "cpu" : device.platform();
  if (has.platform != wanted) {
    return absl::UnavailableError(absl::StrCat("worker ", worker.name, " has ",
                                               has.platform, " devices"));
  }
  if (device.solo() != has.fingerprint.solo()) {
    return absl::UnavailableError(
        absl::StrCat("worker ", worker.name,
                     device.solo() ? " was started without --solo"
                                   : " has one device that stands for a mesh"));
  }
  if (device.device_count() > has.device_count) {
    return absl::UnavailableError(absl::StrCat("worker ", worker.name, " has ",
                                               has.device_count, " ",
                                               has.platform, " devices"));
  }
  if (!device.plugin_path().empty() &&
      device.plugin_path() != worker.plugin_path) {
    return absl::UnavailableError(absl::StrCat("worker ", worker.name, " runs ",
                                               worker.plugin_path.empty()
                                                   ? "the plugin of its build"
                                                   : worker.plugin_path));
  }
  if (exactly != nullptr &&
      (exactly->platform_version != has.platform_version ||
       exactly->device_kind != has.device_kind ||
       DigestFingerprint(exactly->fingerprint) !=
           DigestFingerprint(has.fingerprint))) {
    return absl::UnavailableError(absl::StrCat(
        "worker ", worker.name, " has other devices than the plan's: ",
        has.device_kind, " ", has.fingerprint.processor(),
        " under plugin version ", has.platform_version,
        NameOtherCount(exactly->fingerprint.devices_per_host(),
                       has.fingerprint.devices_per_host())));
  }
  return absl::OkStatus();
}

int CountMembers(const WorkerDescription& worker, const v1::DeviceSpec& device,
                 const DeviceDescription* exactly, bool may_share) {
  if (CanRun(worker, device, exactly).ok()) return 1;
  const int own = worker.devices.device_count;
  const int wanted = device.device_count();
  if (!may_share || !worker.joins_gangs || device.solo() || own < 1 ||
      wanted <= own || wanted % own != 0) {
    return 0;
  }
  v1::DeviceSpec part = device;
  part.set_device_count(own);
  return CanRun(worker, part, exactly).ok() ? wanted / own : 0;
}

}  // namespace meshwright::jobs
