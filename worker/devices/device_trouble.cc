#include "worker/devices/device_trouble.h"

#include <link.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "worker/devices/device_users.h"
#include "worker/devices/nvml.h"
#include "worker/devices/process_family.h"

namespace meshwright::worker::devices {
namespace {

constexpr int kDriverNotLoaded = 9;
constexpr int kLibraryMismatch = 18;
constexpr int kExclusiveThread = 1;
constexpr int kProhibited = 2;
constexpr int kExclusiveProcess = 3;
constexpr double kHeldShare = 0.9;

absl::Status RefuseDriver(const Nvml& nvml, int result) {
  if (result == kDriverNotLoaded) {
    return absl::FailedPreconditionError(
        "the NVIDIA driver is not loaded; run nvidia-smi as root, or restart "
        "the machine");
  }
  if (result == kLibraryMismatch) {
    return absl::FailedPreconditionError(
        "the NVIDIA driver that runs is another version than its library; "
        "restart the machine");
  }
  return absl::FailedPreconditionError(
      absl::StrCat("the NVIDIA driver does not start: ", nvml.describe(result),
                   "; see what nvidia-smi says"));
}

// The major version of CUDA that a loaded plugin brought along; 0: none.
int FindLoadedCuda() {
  int major = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* found) {
        if (info->dlpi_name == nullptr) return 0;
        const std::string_view path = info->dlpi_name;
        const std::string_view file = path.substr(path.rfind('/') + 1);
        for (const std::string_view name : {"libcupti.so.", "libcudart.so."}) {
          if (!file.starts_with(name)) continue;
          const std::vector<std::string> numbers =
              absl::StrSplit(std::string(file.substr(name.size())), '.');
          int number = 0;
          // libcupti of CUDA 11 and before has the year.
          if (absl::SimpleAtoi(numbers[0], &number) && number < 100) {
            *static_cast<int*>(found) = number;
          }
        }
        return 0;
      },
      &major);
  return major;
}

bool BlamesDriver(const std::string& failure) {
  return absl::StrContains(failure, "driver") &&
         (absl::StrContains(failure, "insufficient") ||
          absl::StrContains(failure, "older than") ||
          absl::StrContains(failure, "unsupported"));
}

absl::Status CheckDriver(const Nvml& nvml, const std::string& failure) {
  int cuda = 0;
  const bool knows = Ask(nvml.cuda, &cuda);
  const int wanted = FindLoadedCuda();
  if (!BlamesDriver(failure) && !(knows && cuda / 1000 < wanted)) return {};
  char version[96] = {};
  if (!Ask(nvml.driver, version, unsigned{sizeof(version)})) *version = 0;
  return absl::FailedPreconditionError(absl::StrCat(
      "the NVIDIA driver ", version,
      knows ? absl::StrFormat(", which is for CUDA %d.%d,", cuda / 1000,
                              cuda % 1000 / 10)
            : "",
      " is too old for the plugin",
      wanted != 0 ? absl::StrCat(" with CUDA ", wanted) : "",
      "; update the driver, or give a plugin of its CUDA with --plugin"));
}

struct Gpu {
  std::string name;
  void* handle = nullptr;
};

std::string NameGpu(const Nvml& nvml, void* handle,
                    const std::string& fallback) {
  char text[96] = {};
  return Ask(nvml.uuid, handle, text, unsigned{sizeof(text)})
             ? std::string(text)
             : absl::StrCat("GPU ", fallback);
}

// Those that this process sees.
absl::StatusOr<std::vector<Gpu>> ListGpus(const Nvml& nvml) {
  unsigned all = 0;
  if (!Ask(nvml.count, &all) || all == 0) {
    return absl::FailedPreconditionError(
        "the NVIDIA driver finds no GPU; see that nvidia-smi -L lists one");
  }
  std::vector<Gpu> gpus;
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible == nullptr) {
    for (unsigned i = 0; i < all; ++i) {
      void* handle = nullptr;
      if (!Ask(nvml.by_index, i, &handle)) continue;
      gpus.push_back({NameGpu(nvml, handle, absl::StrCat(i)), handle});
    }
    return gpus;
  }
  // CUDA stops at the first name that is none.
  for (const std::string& name :
       std::vector<std::string>(absl::StrSplit(visible, ','))) {
    unsigned index = 0;
    void* handle = nullptr;
    const bool is_there =
        absl::SimpleAtoi(name, &index)
            ? index < all && Ask(nvml.by_index, index, &handle)
            : Ask(nvml.by_uuid, name.c_str(), &handle);
    if (!is_there) break;
    gpus.push_back({NameGpu(nvml, handle, name), handle});
  }
  if (!gpus.empty()) return gpus;
  return absl::FailedPreconditionError(absl::StrCat(
      "CUDA_VISIBLE_DEVICES is \"", visible, "\" and lets none of the ", all,
      " GPUs through; name devices as nvidia-smi -L does, or unset it"));
}

absl::Status CheckInstances(const Nvml& nvml, const Gpu& gpu) {
  unsigned current = 0;
  unsigned pending = 0;
  if (!Ask(nvml.mig, gpu.handle, &current, &pending) || current == 0) {
    return {};
  }
  unsigned limit = 0;
  if (!Ask(nvml.instance_limit, gpu.handle, &limit)) return {};
  for (unsigned i = 0; i < limit; ++i) {
    void* instance = nullptr;
    if (Ask(nvml.instance, gpu.handle, i, &instance)) return {};
  }
  return absl::FailedPreconditionError(absl::StrCat(
      gpu.name,
      " has MIG on, but no instance; make one with nvidia-smi mig -cgi 0 -C, "
      "or switch MIG off with nvidia-smi -mig 0"));
}

// Another process on the device; empty: NVML names none.
std::string FindOther(const Nvml& nvml, const Gpu& gpu) {
  const std::vector<NvmlProcess> listed =
      ListComputeProcesses(nvml, gpu.handle);
  // Numbers of the host say nothing in a container.
  if (!HasNumbersOfHost()) return listed.empty() ? "" : "a process of the host";
  const NvmlProcess* largest = nullptr;
  for (const NvmlProcess& it : listed) {
    if (it.pid == static_cast<unsigned>(getpid())) continue;
    if (largest == nullptr || it.memory_bytes > largest->memory_bytes) {
      largest = &it;
    }
  }
  return largest == nullptr ? ""
                            : DescribeProcess(static_cast<pid_t>(largest->pid));
}

absl::Status CheckMode(const Nvml& nvml, const Gpu& gpu) {
  int mode = 0;
  if (!Ask(nvml.mode, gpu.handle, &mode)) return {};
  if (mode == kProhibited) {
    return absl::FailedPreconditionError(
        absl::StrCat(gpu.name,
                     " is in compute mode PROHIBITED; run nvidia-smi -c "
                     "DEFAULT as root"));
  }
  if (mode != kExclusiveThread && mode != kExclusiveProcess) return {};
  const std::string other = FindOther(nvml, gpu);
  if (other.empty()) return {};
  return absl::UnavailableError(
      absl::StrCat(gpu.name, " is in exclusive compute mode, and ", other,
                   " has it; end that process, or run nvidia-smi -c DEFAULT "
                   "as root"));
}

absl::Status CheckMemory(const Nvml& nvml, const Gpu& gpu) {
  NvmlMemory memory = {};
  if (!Ask(nvml.memory, gpu.handle, &memory) || memory.total == 0) {
    return {};
  }
  const auto total = static_cast<double>(memory.total);
  const auto free = static_cast<double>(memory.free);
  if (free > (1 - kHeldShare) * total) return {};
  const std::string other = FindOther(nvml, gpu);
  constexpr double kGib = 1 << 30;
  return absl::UnavailableError(absl::StrFormat(
      "%s is busy: %.1f of its %.1f GiB are free, and %s holds the rest; end "
      "it, or name another GPU with --devices",
      gpu.name, free / kGib, total / kGib,
      other.empty() ? "another process" : other));
}

absl::Status AskNvml(const Nvml& nvml, const std::string& failure, int count) {
  if (!failure.empty()) RETURN_IF_ERROR(CheckDriver(nvml, failure));
  ASSIGN_OR_RETURN(std::vector<Gpu> gpus, ListGpus(nvml));
  if (count > 0 && gpus.size() > static_cast<size_t>(count)) {
    gpus.resize(static_cast<size_t>(count));
  }
  for (const Gpu& gpu : gpus) {
    if (!failure.empty()) {
      RETURN_IF_ERROR(CheckInstances(nvml, gpu));
      RETURN_IF_ERROR(CheckMode(nvml, gpu));
    }
    RETURN_IF_ERROR(CheckMemory(nvml, gpu));
  }
  return {};
}

}  // namespace

absl::Status FindDeviceTrouble(const std::string& failure, int count,
                               const std::string& library) {
  const auto nvml = OpenNvml(library, "");
  // Devices that open need no NVML.
  if (!nvml.ok() || nvml->count == nullptr) {
    return failure.empty()
               ? absl::OkStatus()
               : absl::FailedPreconditionError(absl::StrCat(
                     failure,
                     ", and no NVIDIA driver is here; install the driver, or "
                     "start the container with its GPUs"));
  }
  const int result = nvml->initialize();
  if (result != 0) {
    return failure.empty() ? absl::OkStatus() : RefuseDriver(*nvml, result);
  }
  absl::Status status = AskNvml(*nvml, failure, count);
  nvml->shutdown();
  return failure.empty() && absl::IsFailedPrecondition(status)
             ? absl::OkStatus()
             : status;
}

}  // namespace meshwright::worker::devices
