#include "worker/devices/device_choice.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "proto/v1/device.pb.h"
#include "worker/devices/sensors.h"

namespace meshwright::worker::devices {
namespace {

constexpr int kVirtualDevices = 8;
constexpr int kMaxDevices = 4096;
// Of ShowDevicesOfMesh, for the runners.
constexpr char kPerHost[] = "MESHWRIGHT_DEVICES_PER_HOST";

// One name for each device of the list.
absl::StatusOr<std::vector<std::string>> ReadNames(const std::string& text) {
  const std::vector<std::string> names =
      absl::StrSplit(text, ',', absl::SkipEmpty());
  std::set<std::string> seen;
  for (const std::string& name : names) {
    int number = 0;
    const bool is_uuid =
        absl::StartsWith(name, "GPU-") || absl::StartsWith(name, "MIG-");
    if (!is_uuid && (!absl::SimpleAtoi(name, &number) || number < 0)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--devices names ", name,
          ", which is neither a device's number nor its UUID; nvidia-smi -L "
          "lists both"));
    }
    if (!seen.insert(name).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("--devices names device ", name, " twice"));
    }
  }
  return names;
}

// 0: NVML does not say, or there is MIG, of which a process sees one part.
int CountVisible(const std::string& library) {
  const auto sensors = Sensors::Open(0, library);
  if (!sensors.ok()) return 0;
  v1::DeviceFingerprint devices;
  (*sensors)->Describe(devices);
  if (devices.partitioned()) return 0;
  return static_cast<int>((*sensors)->Uuids().size());
}

// Hides all but the first `count` that are visible now. A plugin opens every
// device that it sees.
void ShowFirst(int count) {
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  std::vector<std::string> names;
  if (visible != nullptr) {
    names = absl::StrSplit(visible, ',');
  } else {
    for (int i = 0; i < count; ++i) names.push_back(absl::StrCat(i));
  }
  const auto limit = static_cast<size_t>(count);
  if (names.size() > limit) names.resize(limit);
  setenv("CUDA_VISIBLE_DEVICES", absl::StrJoin(names, ",").c_str(), 1);
}

}  // namespace

absl::Status ChooseDevices(const std::string& text, v1::DeviceSpec& devices) {
  const bool is_cpu = devices.platform() == "cpu";
  // A stated order, so that numbers mean what nvidia-smi says.
  if (!is_cpu) setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", /*overwrite=*/0);
  int count = 0;
  if (text.empty()) {
    devices.set_device_count(is_cpu ? kVirtualDevices : 0);
    return absl::OkStatus();
  }
  if (absl::SimpleAtoi(text, &count)) {
    if (count < 1 || count > kMaxDevices) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--devices is ", text, ", but a worker has 1 to ", kMaxDevices,
          is_cpu ? "" : absl::StrCat("; GPU ", text, " alone is ", text, ",")));
    }
    devices.set_device_count(count);
    if (!is_cpu && !devices.solo()) ShowFirst(count);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ReadNames(text));
  if (names.empty() || is_cpu) {
    return absl::InvalidArgumentError(
        absl::StrCat("--devices is \"", text, "\", ",
                     is_cpu ? "but devices of a CPU have no names; give how "
                              "many"
                            : "which names no device"));
  }
  setenv("CUDA_VISIBLE_DEVICES", absl::StrJoin(names, ",").c_str(), 1);
  devices.set_device_count(static_cast<int32_t>(names.size()));
  return absl::OkStatus();
}

void ShowDevicesOfMesh(int64_t count, const std::string& library) {
  const int visible = CountVisible(library);
  if (count < 1 || count >= visible) return;
  setenv(kPerHost, absl::StrCat(visible).c_str(), 1);
  ShowFirst(static_cast<int>(count));
}

int CountDevicesOfHost(int opened) {
  const char* const text = std::getenv(kPerHost);
  int count = 0;
  if (text == nullptr || !absl::SimpleAtoi(text, &count)) return opened;
  return std::max(count, opened);
}

}  // namespace meshwright::worker::devices
