#include "worker/devices/device_users.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace meshwright::worker::devices {
namespace {

// Of the namespace that the kernel starts with (PROC_PID_INIT_INO).
constexpr char kFirstNamespace[] = "pid:[4026531836]";

}  // namespace

std::string GpuUsers::Find() {
  const std::vector<pid_t> listed = list_();
  if (listed.empty()) return "";
  const ProcessFamily family = family_();
  // Whose they are cannot be told.
  if (!knows_numbers_ && family.members.size() > 1) return "";
  std::vector<pid_t> strangers;
  for (const pid_t process : listed) {
    if (knows_numbers_ && family.members.contains(process)) continue;
    strangers.push_back(process);
  }
  if (strangers.empty()) return "";
  // A runner that was listed, and ended before the family was read.
  const std::vector<pid_t> still = list_();
  for (const pid_t process : strangers) {
    if (std::find(still.begin(), still.end(), process) == still.end()) continue;
    return knows_numbers_ ? DescribeProcess(process) : "a process of the host";
  }
  return "";
}

std::string ProcessorUsers::Find() {
  const std::optional<LoadWatch::Reading> now = read_();
  const std::optional<LoadWatch::Reading> last = std::exchange(last_, now);
  if (!now.has_value() || !last.has_value()) return "";
  const double share = MeasureShareOfOthers(*last, *now, processors_);
  if (share < kShare) return "";
  return absl::StrCat("other processes, with ", std::lround(share * 100),
                      " % of the processors");
}

bool HasNumbersOfHost(const std::filesystem::path& root) {
  std::error_code none;
  return std::filesystem::read_symlink(root / "proc/self/ns/pid", none) ==
         kFirstNamespace;
}

int CountOwnDevices(const v1::DeviceSpec& devices) {
  return devices.solo() ? 1 : devices.device_count();
}

absl::StatusOr<std::unique_ptr<DeviceUsers>> OpenDeviceUsers(
    const v1::DeviceSpec& devices, const std::string& library) {
  const pid_t self = getpid();
  if (devices.platform() == "cpu") {
    const auto watch = std::make_shared<const LoadWatch>();
    return std::make_unique<ProcessorUsers>(
        [watch, self] {
          std::optional<LoadWatch::Reading> reading = watch->Read();
          if (reading.has_value()) {
            reading->own = ReadProcessFamily(self).cpu_time;
          }
          return reading;
        },
        watch->processors());
  }
  ASSIGN_OR_RETURN(std::unique_ptr<Sensors> opened,
                   Sensors::Open(CountOwnDevices(devices), library));
  const std::shared_ptr<const Sensors> sensors = std::move(opened);
  return std::make_unique<GpuUsers>(
      [sensors] { return sensors->ListProcesses(); },
      [self] { return ReadProcessFamily(self); }, HasNumbersOfHost());
}

}  // namespace meshwright::worker::devices
