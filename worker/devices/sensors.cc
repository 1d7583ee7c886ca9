#include "worker/devices/sensors.h"

#include <cstdlib>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/shared_library.h"
#include "base/status_macros.h"

namespace meshwright::worker::devices {

// As NVML declares them: results are int (0: success), handles void*.
struct Sensors::Functions {
  int (*initialize)() = nullptr;
  int (*shutdown)() = nullptr;
  const char* (*describe)(int) = nullptr;
  int (*by_index)(unsigned, void**) = nullptr;
  int (*by_uuid)(const char*, void**) = nullptr;
  int (*uuid)(void*, char*, unsigned) = nullptr;
  int (*clock)(void*, int kind, unsigned* mhz) = nullptr;
  int (*power)(void*, unsigned* milliwatts) = nullptr;
  int (*power_limit)(void*, unsigned* milliwatts) = nullptr;
  int (*temperature)(void*, int sensor, unsigned* celsius) = nullptr;
  int (*throttle)(void*, unsigned long long* bits) = nullptr;
  int (*ecc)(void*, int kind, int counter, unsigned long long*) = nullptr;
  int (*utilization)(void*, unsigned* gpu_and_memory) = nullptr;
  int (*mig)(void*, unsigned* current, unsigned* pending) = nullptr;
};

namespace {

constexpr int kSmClock = 1;
constexpr int kMemoryClock = 2;
constexpr int kUncorrected = 1;
constexpr int kSinceDriver = 0;

// The first device of CUDA_VISIBLE_DEVICES; empty: the machine's first.
std::string FirstVisible() {
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  const std::string list = visible == nullptr ? "" : visible;
  return list.substr(0, list.find(','));
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

Sensors::Sensors() : functions_(std::make_unique<Functions>()) {}

Sensors::~Sensors() {
  if (device_ != nullptr) functions_->shutdown();
}

absl::StatusOr<std::unique_ptr<Sensors>> Sensors::Open(
    const std::string& library) {
  ASSIGN_OR_RETURN(
      const base::SharedLibrary nvml,
      base::SharedLibrary::Open(
          library,
          "it comes with the NVIDIA driver; without it rows have no "
          "clocks, power and heat"));
  std::unique_ptr<Sensors> sensors(new Sensors());
  Functions& it = *sensors->functions_;
  RETURN_IF_ERROR(nvml.Find("nvmlInit_v2", &it.initialize));
  RETURN_IF_ERROR(nvml.Find("nvmlShutdown", &it.shutdown));
  RETURN_IF_ERROR(nvml.Find("nvmlErrorString", &it.describe));
  RETURN_IF_ERROR(nvml.Find("nvmlDeviceGetHandleByIndex_v2", &it.by_index));
  RETURN_IF_ERROR(nvml.Find("nvmlDeviceGetHandleByUUID", &it.by_uuid));
  // Older drivers lack some of these: their figures stay 0.
  nvml.Find("nvmlDeviceGetUUID", &it.uuid).IgnoreError();
  nvml.Find("nvmlDeviceGetClockInfo", &it.clock).IgnoreError();
  nvml.Find("nvmlDeviceGetPowerUsage", &it.power).IgnoreError();
  nvml.Find("nvmlDeviceGetEnforcedPowerLimit", &it.power_limit).IgnoreError();
  nvml.Find("nvmlDeviceGetTemperature", &it.temperature).IgnoreError();
  nvml.Find("nvmlDeviceGetCurrentClocksThrottleReasons", &it.throttle)
      .IgnoreError();
  nvml.Find("nvmlDeviceGetTotalEccErrors", &it.ecc).IgnoreError();
  nvml.Find("nvmlDeviceGetUtilizationRates", &it.utilization).IgnoreError();
  nvml.Find("nvmlDeviceGetMigMode", &it.mig).IgnoreError();
  const auto check = [&](int result) -> absl::Status {
    if (result == 0) return {};
    return absl::FailedPreconditionError(
        absl::StrCat("NVML: ", it.describe(result)));
  };
  RETURN_IF_ERROR(check(it.initialize()));
  const std::string first = FirstVisible();
  unsigned index = 0;
  void* device = nullptr;
  if (absl::StartsWith(first, "GPU-") || absl::StartsWith(first, "MIG-")) {
    RETURN_IF_ERROR(check(it.by_uuid(first.c_str(), &device)));
  } else {
    if (!first.empty() && !absl::SimpleAtoi(first, &index)) {
      return absl::FailedPreconditionError(absl::StrCat(
          "CUDA_VISIBLE_DEVICES names ", first,
          ", which is no number and no UUID; name devices as nvidia-smi -L "
          "does"));
    }
    RETURN_IF_ERROR(check(it.by_index(index, &device)));
  }
  sensors->device_ = device;
  return sensors;
}

namespace {

// Whether NVML has the question, and the device an answer.
template <typename Function, typename... Arguments>
bool Ask(Function* question, Arguments... arguments) {
  return question != nullptr && question(arguments...) == 0;
}

}  // namespace

v1::DeviceSensors Sensors::Read() const {
  const Functions& it = *functions_;
  v1::DeviceSensors sensors;
  unsigned value = 0;
  if (Ask(it.clock, device_, kSmClock, &value)) {
    sensors.set_sm_clock_mhz(static_cast<int32_t>(value));
  }
  if (Ask(it.clock, device_, kMemoryClock, &value)) {
    sensors.set_memory_clock_mhz(static_cast<int32_t>(value));
  }
  if (Ask(it.power, device_, &value)) {
    sensors.set_power_watts(static_cast<int32_t>(value / 1000));
  }
  if (Ask(it.power_limit, device_, &value)) {
    sensors.set_power_limit_watts(static_cast<int32_t>(value / 1000));
  }
  if (Ask(it.temperature, device_, 0, &value)) {
    sensors.set_temperature_celsius(static_cast<int32_t>(value));
  }
  unsigned long long wide = 0;
  if (Ask(it.throttle, device_, &wide)) {
    for (std::string& name : NameThrottleReasons(wide)) {
      sensors.add_throttle_reasons(std::move(name));
    }
  }
  if (Ask(it.ecc, device_, kUncorrected, kSinceDriver, &wide)) {
    sensors.set_uncorrected_ecc_errors(static_cast<int64_t>(wide));
  }
  unsigned rates[2] = {};
  if (Ask(it.utilization, device_, rates)) {
    sensors.set_utilization_percent(static_cast<int32_t>(rates[0]));
  }
  return sensors;
}

std::string NameFirstDevice(const std::string& platform,
                            const std::string& plugin_name) {
  if (platform == "cpu") return plugin_name;
  const auto sensors = Sensors::Open();
  const std::string uuid = sensors.ok() ? (*sensors)->Uuid() : "";
  return uuid.empty() ? plugin_name : uuid;
}

std::string Sensors::Uuid() const {
  char text[96] = {};
  return Ask(functions_->uuid, device_, text, unsigned{sizeof(text)}) ? text
                                                                      : "";
}

void Sensors::Describe(v1::DeviceFingerprint& fingerprint) const {
  unsigned current = 0;
  unsigned pending = 0;
  if (Ask(functions_->mig, device_, &current, &pending)) {
    fingerprint.set_partitioned(current != 0);
  }
  unsigned milliwatts = 0;
  if (Ask(functions_->power_limit, device_, &milliwatts)) {
    fingerprint.set_power_limit_watts(static_cast<int32_t>(milliwatts / 1000));
  }
}

}  // namespace meshwright::worker::devices
