#include "worker/devices/sensors.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "worker/devices/nvml.h"

namespace meshwright::worker::devices {

namespace {

constexpr int kSmClock = 1;
constexpr int kMemoryClock = 2;
constexpr int kUncorrected = 1;
constexpr int kSinceDriver = 0;
constexpr unsigned kMaximumLinks = 36;
constexpr int kSwitch = 2;  // of nvmlIntNvLinkDeviceType_t
// Of nvmlNvlinkVersion_t, by its numbers; 2.2 and 3.1 are of the same speed.
constexpr const char* kLinkGenerations[] = {"?", "1", "2", "2", "3",
                                            "3", "4", "5", "6"};

// Of CUDA_VISIBLE_DEVICES, which hides all where it is empty, or all by their
// numbers where it is not set.
std::vector<std::string> ListVisible(int count) {
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible != nullptr) {
    return absl::StrSplit(visible, ',', absl::SkipEmpty());
  }
  std::vector<std::string> list;
  for (int i = 0; i < count; ++i) list.push_back(absl::StrCat(i));
  return list;
}

}  // namespace

std::vector<std::string> NameThrottleReasons(uint64_t bits) {
  static constexpr std::pair<uint64_t, const char*> kReasons[] = {
      {0x4, "power cap"},         {0x8, "hardware slowdown"},
      {0x10, "sync boost"},       {0x20, "heat (software)"},
      {0x40, "heat (hardware)"},  {0x80, "power brake"},
      {0x100, "display's clock"},
  };
  std::vector<std::string> names;
  for (const auto& [bit, name] : kReasons) {
    if ((bits & bit) != 0) names.emplace_back(name);
  }
  return names;
}

bool IsThrottled(const v1::DeviceSensors& sensors) {
  static constexpr std::string_view kDisturbing[] = {
      "hardware slowdown", "heat (software)", "heat (hardware)", "power brake"};
  return std::any_of(
      sensors.throttle_reasons().begin(), sensors.throttle_reasons().end(),
      [](const std::string& it) {
        return std::find(std::begin(kDisturbing), std::end(kDisturbing), it) !=
               std::end(kDisturbing);
      });
}

Sensors::Sensors() : functions_(std::make_unique<Nvml>()) {}

Sensors::~Sensors() {
  if (is_initialized_) functions_->shutdown();
}

absl::StatusOr<std::unique_ptr<Sensors>> Sensors::Open(
    int count, const std::string& library) {
  std::unique_ptr<Sensors> sensors(new Sensors());
  ASSIGN_OR_RETURN(*sensors->functions_,
                   OpenNvml(library,
                            "it comes with the NVIDIA driver; without it rows "
                            "have no clocks, power and heat"));
  const Nvml& it = *sensors->functions_;
  const auto check = [&](int result) -> absl::Status {
    if (result == 0) return {};
    return absl::FailedPreconditionError(
        absl::StrCat("NVML: ", it.describe(result)));
  };
  RETURN_IF_ERROR(check(it.initialize()));
  sensors->is_initialized_ = true;
  unsigned all = 0;
  if (count == 0 && it.count != nullptr && it.count(&all) == 0) {
    count = static_cast<int>(all);
  }
  for (const std::string& name : ListVisible(count)) {
    unsigned index = 0;
    void* device = nullptr;
    if (absl::StartsWith(name, "GPU-") || absl::StartsWith(name, "MIG-")) {
      RETURN_IF_ERROR(check(it.by_uuid(name.c_str(), &device)));
    } else {
      if (!absl::SimpleAtoi(name, &index)) {
        return absl::FailedPreconditionError(absl::StrCat(
            "CUDA_VISIBLE_DEVICES names ", name,
            ", which is no number and no UUID; name devices as nvidia-smi -L "
            "does"));
      }
      RETURN_IF_ERROR(check(it.by_index(index, &device)));
    }
    sensors->devices_.push_back(device);
    if (static_cast<int>(sensors->devices_.size()) == count) break;
  }
  if (sensors->devices_.empty()) {
    return absl::FailedPreconditionError(
        "no GPU is visible; unset CUDA_VISIBLE_DEVICES where it is empty, and "
        "see that nvidia-smi -L lists one");
  }
  return sensors;
}

namespace {

// 0: the device does not say.
int32_t FindLower(int32_t one, int32_t other) {
  return one == 0 || other == 0 ? std::max(one, other) : std::min(one, other);
}

void TakeWorse(const v1::DeviceSensors& from, v1::DeviceSensors& into) {
  into.set_sm_clock_mhz(FindLower(from.sm_clock_mhz(), into.sm_clock_mhz()));
  into.set_memory_clock_mhz(
      FindLower(from.memory_clock_mhz(), into.memory_clock_mhz()));
  into.set_power_limit_watts(
      FindLower(from.power_limit_watts(), into.power_limit_watts()));
  into.set_power_watts(std::max(from.power_watts(), into.power_watts()));
  into.set_temperature_celsius(
      std::max(from.temperature_celsius(), into.temperature_celsius()));
  into.set_utilization_percent(
      std::max(from.utilization_percent(), into.utilization_percent()));
  into.set_uncorrected_ecc_errors(from.uncorrected_ecc_errors() +
                                  into.uncorrected_ecc_errors());
  std::set<std::string> reasons(into.throttle_reasons().begin(),
                                into.throttle_reasons().end());
  reasons.insert(from.throttle_reasons().begin(),
                 from.throttle_reasons().end());
  into.mutable_throttle_reasons()->Assign(reasons.begin(), reasons.end());
}

}  // namespace

v1::DeviceSensors Sensors::Read() const {
  v1::DeviceSensors sensors = Read(devices_.front());
  for (size_t i = 1; i < devices_.size(); ++i) {
    TakeWorse(Read(devices_[i]), sensors);
  }
  return sensors;
}

v1::DeviceSensors Sensors::Read(void* device) const {
  const Nvml& it = *functions_;
  v1::DeviceSensors sensors;
  unsigned value = 0;
  if (Ask(it.clock, device, kSmClock, &value)) {
    sensors.set_sm_clock_mhz(static_cast<int32_t>(value));
  }
  if (Ask(it.clock, device, kMemoryClock, &value)) {
    sensors.set_memory_clock_mhz(static_cast<int32_t>(value));
  }
  if (Ask(it.power, device, &value)) {
    sensors.set_power_watts(static_cast<int32_t>(value / 1000));
  }
  if (Ask(it.power_limit, device, &value)) {
    sensors.set_power_limit_watts(static_cast<int32_t>(value / 1000));
  }
  if (Ask(it.temperature, device, 0, &value)) {
    sensors.set_temperature_celsius(static_cast<int32_t>(value));
  }
  unsigned long long wide = 0;
  if (Ask(it.throttle, device, &wide)) {
    for (std::string& name : NameThrottleReasons(wide)) {
      sensors.add_throttle_reasons(std::move(name));
    }
  }
  if (Ask(it.ecc, device, kUncorrected, kSinceDriver, &wide)) {
    sensors.set_uncorrected_ecc_errors(static_cast<int64_t>(wide));
  }
  unsigned rates[2] = {};
  if (Ask(it.utilization, device, rates)) {
    sensors.set_utilization_percent(static_cast<int32_t>(rates[0]));
  }
  return sensors;
}

std::optional<double> Sensors::ReadUseByOthers(absl::Time since) const {
  const Nvml& it = *functions_;
  const auto self = static_cast<unsigned>(getpid());
  double largest = 0;
  for (void* const device : devices_) {
    if (it.process_use == nullptr) return std::nullopt;
    // It has opened the devices, so it must be there.
    const std::vector<pid_t> listed = ListProcesses(device);
    if (std::find(listed.begin(), listed.end(), getpid()) == listed.end()) {
      return std::nullopt;
    }
    unsigned count = kMaximumNvmlProcesses;
    std::vector<NvmlProcessUse> uses(count);
    // An error says that there is none since.
    if (!Ask(it.process_use, device, uses.data(), &count,
             static_cast<unsigned long long>(absl::ToUnixMicros(since)))) {
      continue;
    }
    uses.resize(std::min(count, kMaximumNvmlProcesses));
    double others = 0;
    for (const NvmlProcessUse& one : uses) {
      if (one.pid != self) others += one.sm_percent / 100.0;
    }
    largest = std::max(largest, std::min(others, 1.0));
  }
  return largest;
}

std::vector<pid_t> Sensors::ListProcesses(void* device) const {
  std::vector<pid_t> numbers;
  for (const NvmlProcess& one : ListComputeProcesses(*functions_, device)) {
    numbers.push_back(static_cast<pid_t>(one.pid));
  }
  return numbers;
}

std::vector<pid_t> Sensors::ListProcesses() const {
  std::set<pid_t> numbers;
  for (void* const device : devices_) {
    for (const pid_t one : ListProcesses(device)) numbers.insert(one);
  }
  return {numbers.begin(), numbers.end()};
}

std::vector<std::string> NameDevices(const std::string& platform,
                                     const std::string& plugin_name,
                                     int count) {
  if (platform == "cpu") return {plugin_name};
  const auto sensors = Sensors::Open(count);
  if (!sensors.ok()) return {plugin_name};
  std::vector<std::string> names = (*sensors)->Uuids();
  for (std::string& name : names) {
    if (name.empty()) name = plugin_name;
  }
  return names;
}

std::vector<std::string> Sensors::Uuids() const {
  std::vector<std::string> uuids;
  for (void* const device : devices_) {
    char text[96] = {};
    const bool has =
        Ask(functions_->uuid, device, text, unsigned{sizeof(text)});
    uuids.emplace_back(has ? text : "");
  }
  return uuids;
}

std::vector<LinkEnds> Sensors::ReadLinks() const {
  const Nvml& it = *functions_;
  const auto name = [](const NvmlPciInfo& info) {
    return absl::StrFormat("%04x:%02x:%02x", info.domain, info.bus,
                           info.device);
  };
  std::vector<LinkEnds> all;
  for (void* const device : devices_) {
    NvmlPciInfo own = {};
    if (!Ask(it.place, device, &own)) continue;
    LinkEnds& ends = all.emplace_back();
    ends.place = name(own);
    for (unsigned link = 0; link < kMaximumLinks; ++link) {
      unsigned is_active = 0;
      NvmlPciInfo end = {};
      int kind = 0;
      if (!Ask(it.link_state, device, link, &is_active)) break;
      if (is_active == 0 || !Ask(it.link_end, device, link, &end)) continue;
      const bool is_switch =
          Ask(it.link_end_kind, device, link, &kind) && kind == kSwitch;
      (is_switch ? ends.switches : ends.devices).push_back(name(end));
    }
  }
  return all;
}

// "NVLink 4 x18", "PCIe 5 x16".
std::string Sensors::NameLinks(void* device) const {
  const Nvml& it = *functions_;
  unsigned links = 0;
  unsigned newest = 0;
  for (unsigned link = 0; link < kMaximumLinks; ++link) {
    unsigned is_active = 0;
    unsigned version = 0;
    if (!Ask(it.link_state, device, link, &is_active)) break;
    if (is_active == 0) continue;
    ++links;
    if (Ask(it.link_version, device, link, &version)) {
      newest = std::max(newest, version);
    }
  }
  if (links > 0) {
    return absl::StrCat("NVLink ",
                        newest < std::size(kLinkGenerations)
                            ? kLinkGenerations[newest]
                            : absl::StrCat("version ", newest),
                        " x", links);
  }
  unsigned generation = 0;
  unsigned lanes = 0;
  if (!Ask(it.pcie_generation, device, &generation)) return "";
  if (!Ask(it.pcie_width, device, &lanes)) lanes = 0;
  return absl::StrCat("PCIe ", generation, " x", lanes);
}

// "SM 1410 MHz", where somebody chose other clocks than the maker.
std::string Sensors::NameClocks(void* device) const {
  std::vector<std::string> chosen;
  for (const auto& [kind, name] :
       {std::pair(kSmClock, "SM"), std::pair(kMemoryClock, "memory")}) {
    unsigned now = 0;
    unsigned usual = 0;
    if (Ask(functions_->chosen_clock, device, kind, &now) &&
        Ask(functions_->default_clock, device, kind, &usual) && now != usual) {
      chosen.push_back(absl::StrCat(name, " ", now, " MHz"));
    }
  }
  return absl::StrJoin(chosen, ", ");
}

void Sensors::Describe(v1::DeviceFingerprint& fingerprint) const {
  char driver[96] = {};
  if (fingerprint.driver_version().empty() &&
      Ask(functions_->driver, driver, unsigned{sizeof(driver)})) {
    fingerprint.set_driver_version(driver);
  }
  std::set<std::string> links;
  std::set<std::string> clocks;
  for (void* const device : devices_) {
    unsigned current = 0;
    unsigned pending = 0;
    if (Ask(functions_->mig, device, &current, &pending) && current != 0) {
      fingerprint.set_partitioned(true);
    }
    unsigned milliwatts = 0;
    if (Ask(functions_->power_limit, device, &milliwatts)) {
      fingerprint.set_power_limit_watts(
          FindLower(fingerprint.power_limit_watts(),
                    static_cast<int32_t>(milliwatts / 1000)));
    }
    links.insert(NameLinks(device));
    clocks.insert(NameClocks(device));
  }
  links.erase("");
  clocks.erase("");
  fingerprint.set_link_class(absl::StrJoin(links, ", "));
  fingerprint.set_clock_policy(absl::StrJoin(clocks, ", "));
}

}  // namespace meshwright::worker::devices
