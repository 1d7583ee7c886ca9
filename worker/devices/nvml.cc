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
  nvml.Find("nvmlDeviceGetCount_v2", &it.count).IgnoreError();
  nvml.Find("nvmlSystemGetDriverVersion", &it.driver).IgnoreError();
  nvml.Find("nvmlSystemGetCudaDriverVersion_v2", &it.cuda).IgnoreError();
  nvml.Find("nvmlDeviceGetMaxMigDeviceCount", &it.instance_limit).IgnoreError();
  nvml.Find("nvmlDeviceGetMigDeviceHandleByIndex", &it.instance).IgnoreError();
  nvml.Find("nvmlDeviceGetComputeMode", &it.mode).IgnoreError();
  nvml.Find("nvmlDeviceGetMemoryInfo", &it.memory).IgnoreError();
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
  nvml.Find("nvmlDeviceGetNvLinkState", &it.link_state).IgnoreError();
  nvml.Find("nvmlDeviceGetNvLinkVersion", &it.link_version).IgnoreError();
  nvml.Find("nvmlDeviceGetNvLinkRemotePciInfo_v2", &it.link_end).IgnoreError();
  nvml.Find("nvmlDeviceGetNvLinkRemoteDeviceType", &it.link_end_kind)
      .IgnoreError();
  nvml.Find("nvmlDeviceGetPciInfo_v3", &it.place).IgnoreError();
  nvml.Find("nvmlDeviceGetMaxPcieLinkGeneration", &it.pcie_generation)
      .IgnoreError();
  nvml.Find("nvmlDeviceGetMaxPcieLinkWidth", &it.pcie_width).IgnoreError();
  nvml.Find("nvmlDeviceGetApplicationsClock", &it.chosen_clock).IgnoreError();
  nvml.Find("nvmlDeviceGetDefaultApplicationsClock", &it.default_clock)
      .IgnoreError();
  nvml.Find("nvmlDeviceGetComputeRunningProcesses_v3", &it.processes)
      .IgnoreError();
  nvml.Find("nvmlDeviceGetProcessUtilization", &it.process_use).IgnoreError();
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
