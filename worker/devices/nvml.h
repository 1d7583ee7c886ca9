// Nvml: the functions of NVIDIA's management library, opened at run time.
//
// Concept: the library comes with the driver, so that a build knows none of it.
// Results are int, 0 for success; devices are void*. What older drivers lack is
// null; a question is asked with Ask, which takes that for no answer.
// Threads: any. Ownership: the library stays open.
// Errors: of OpenNvml: kFailedPrecondition, one sentence that ends in the hint.
// Source: nvml.h, whose functions keep their ABI.
#ifndef MESHWRIGHT_WORKER_DEVICES_NVML_H_
#define MESHWRIGHT_WORKER_DEVICES_NVML_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace meshwright::worker::devices {

// nvmlProcessInfo_t.
struct NvmlProcess {
  unsigned pid;
  unsigned long long memory_bytes;
  unsigned gpu_instance;
  unsigned compute_instance;
};
// nvmlProcessUtilizationSample_t.
struct NvmlProcessUse {
  unsigned pid;
  unsigned long long unix_us;
  unsigned sm_percent;
  unsigned memory_percent;
  unsigned encoder_percent;
  unsigned decoder_percent;
};
// nvmlPciInfo_t.
struct NvmlPciInfo {
  char old_name[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned ids[2];
  char name[32];
};
// nvmlMemory_t.
struct NvmlMemory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

// More than a device has in practice; where there are more, NVML says nothing.
inline constexpr unsigned kMaximumNvmlProcesses = 256;

struct Nvml {
  // Those that every driver has.
  int (*initialize)() = nullptr;
  int (*shutdown)() = nullptr;
  const char* (*describe)(int) = nullptr;
  int (*by_index)(unsigned, void**) = nullptr;
  int (*by_uuid)(const char*, void**) = nullptr;

  int (*driver)(char* version, unsigned size) = nullptr;
  int (*cuda)(int*) = nullptr;  // 12080 is 12.8
  int (*count)(unsigned*) = nullptr;
  int (*uuid)(void*, char*, unsigned size) = nullptr;
  int (*clock)(void*, int kind, unsigned* mhz) = nullptr;
  int (*power)(void*, unsigned* milliwatts) = nullptr;
  int (*power_limit)(void*, unsigned* milliwatts) = nullptr;
  int (*temperature)(void*, int sensor, unsigned* celsius) = nullptr;
  int (*throttle)(void*, unsigned long long* bits) = nullptr;
  int (*ecc)(void*, int kind, int counter, unsigned long long*) = nullptr;
  int (*utilization)(void*, unsigned* gpu_and_memory) = nullptr;
  int (*mig)(void*, unsigned* current, unsigned* pending) = nullptr;
  int (*instance_limit)(void*, unsigned*) = nullptr;
  int (*instance)(void*, unsigned index, void**) = nullptr;
  int (*mode)(void*, int*) = nullptr;
  int (*memory)(void*, NvmlMemory*) = nullptr;
  int (*link_state)(void*, unsigned link, unsigned* is_active) = nullptr;
  int (*link_version)(void*, unsigned link, unsigned* version) = nullptr;
  int (*link_end)(void*, unsigned link, NvmlPciInfo*) = nullptr;
  int (*link_end_kind)(void*, unsigned link, int* kind) = nullptr;
  int (*place)(void*, NvmlPciInfo*) = nullptr;
  int (*pcie_generation)(void*, unsigned*) = nullptr;
  int (*pcie_width)(void*, unsigned* lanes) = nullptr;
  int (*chosen_clock)(void*, int kind, unsigned* mhz) = nullptr;
  int (*default_clock)(void*, int kind, unsigned* mhz) = nullptr;
  int (*processes)(void*, unsigned* count, NvmlProcess*) = nullptr;
  int (*process_use)(void*, NvmlProcessUse*, unsigned* count,
                     unsigned long long since_unix_us) = nullptr;
};

// Not initialized yet. `hint`: what to do where the library is not there.
absl::StatusOr<Nvml> OpenNvml(const std::string& library,
                              const std::string& hint);

// Whether NVML has the question, and an answer.
template <typename Function, typename... Arguments>
bool Ask(Function* question, Arguments... arguments) {
  return question != nullptr && question(arguments...) == 0;
}

// Those that compute on the device; none where NVML does not say.
std::vector<NvmlProcess> ListComputeProcesses(const Nvml& nvml, void* device);

}  // namespace meshwright::worker::devices

#endif  // MESHWRIGHT_WORKER_DEVICES_NVML_H_
