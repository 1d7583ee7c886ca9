#include "worker/devices/nvml.h"

#include <algorithm>

#include "base/shared_library.h"
#include "base/status_macros.h"

namespace meshwright::worker::devices {

absl::StatusOr<Nvml> OpenNvml(const std::string& library,
                              const std::string& hint) {
  ASSIGN_OR_RETURN(const base::SharedLibrary nvml,
                   base::SharedLibrary::Open(library, hint));
  Nvml it;
  RETURN_IF_ERROR(nvml.Find("nvmlInit_v2", &it.initialize));
  RETURN_IF_ERROR(nvml.Find("nvmlShutdown", &it.shutdown));
  RETURN_IF_ERROR(nvml.Find("nvmlErrorString", &it.describe));
  RETURN_IF_ERROR(nvml.Find("nvmlDeviceGetHandleByIndex_v2", &it.by_index));
  RETURN_IF_ERROR(nvml.Find("nvmlDeviceGetHandleByUUID", &it.by_uuid));
  // Older drivers lack some of these: nobody answers these.
  const auto find = [&](const char* symbol, auto** function) {
    nvml.Find(symbol, function).IgnoreError();
  };
  find("nvmlDeviceGetCount_v2", &it.count);
  find("nvmlSystemGetDriverVersion", &it.driver);
  find("nvmlSystemGetCudaDriverVersion_v2", &it.cuda);
  find("nvmlDeviceGetMaxMigDeviceCount", &it.instance_limit);
  find("nvmlDeviceGetMigDeviceHandleByIndex", &it.instance);
  find("nvmlDeviceGetComputeMode", &it.mode);
  find("nvmlDeviceGetMemoryInfo", &it.memory);
  find("nvmlDeviceGetUUID", &it.uuid);
  find("nvmlDeviceGetClockInfo", &it.clock);
  find("nvmlDeviceGetPowerUsage", &it.power);
  find("nvmlDeviceGetEnforcedPowerLimit", &it.power_limit);
  find("nvmlDeviceGetTemperature", &it.temperature);
  find("nvmlDeviceGetCurrentClocksThrottleReasons", &it.throttle);
  find("nvmlDeviceGetTotalEccErrors", &it.ecc);
  find("nvmlDeviceGetUtilizationRates", &it.utilization);
  find("nvmlDeviceGetMigMode", &it.mig);
  find("nvmlDeviceGetNvLinkState", &it.link_state);
  find("nvmlDeviceGetNvLinkVersion", &it.link_version);
  find("nvmlDeviceGetNvLinkRemotePciInfo_v2", &it.link_end);
  find("nvmlDeviceGetNvLinkRemoteDeviceType", &it.link_end_kind);
  find("nvmlDeviceGetPciInfo_v3", &it.place);
  find("nvmlDeviceGetMaxPcieLinkGeneration", &it.pcie_generation);
  find("nvmlDeviceGetMaxPcieLinkWidth", &it.pcie_width);
  find("nvmlDeviceGetApplicationsClock", &it.chosen_clock);
  find("nvmlDeviceGetDefaultApplicationsClock", &it.default_clock);
  find("nvmlDeviceGetComputeRunningProcesses_v3", &it.processes);
  find("nvmlDeviceGetProcessUtilization", &it.process_use);
  return it;
}

std::vector<NvmlProcess> ListComputeProcesses(const Nvml& nvml, void* device) {
  unsigned count = kMaximumNvmlProcesses;
  std::vector<NvmlProcess> processes(count);
  if (!Ask(nvml.processes, device, &count, processes.data())) return {};
  processes.resize(std::min(count, kMaximumNvmlProcesses));
  return processes;
}

}  // namespace meshwright::worker::devices
