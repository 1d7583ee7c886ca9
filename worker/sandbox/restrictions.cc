#include "worker/sandbox/restrictions.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>

#include "base/status_macros.h"
#include "worker/sandbox/system_call_filter.h"

namespace meshwright::worker::sandbox {
namespace {

// A brake for what runs away. The largest executables of a batch are below a
// gibibyte; a GPU process has a few thousand files, a large machine a few
// thousand threads, which count for the user and not for the process.
constexpr rlim_t kFileBytes = rlim_t{16} << 30;
constexpr rlim_t kOpenFiles = 65536;
constexpr rlim_t kProcesses = 32768;

absl::Status Lower(int resource, rlim_t value) {
  rlimit limit = {};
  if (getrlimit(resource, &limit) == 0) {
    limit.rlim_max = std::min(limit.rlim_max, value);
    limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max);
    if (setrlimit(resource, &limit) == 0) return absl::OkStatus();
  }
  return absl::ErrnoToStatus(errno, "the kernel sets no limit");
}

absl::Status LowerLimits() {
  RETURN_IF_ERROR(Lower(RLIMIT_CORE, 0));
  RETURN_IF_ERROR(Lower(RLIMIT_FSIZE, kFileBytes));
  RETURN_IF_ERROR(Lower(RLIMIT_NOFILE, kOpenFiles));
  RETURN_IF_ERROR(Lower(RLIMIT_NPROC, kProcesses));
  signal(SIGXFSZ, SIG_IGN);  // a write fails instead
  return absl::OkStatus();
}

absl::Status RenouncePrivileges() {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, "the kernel knows no no_new_privs");
}

}  // namespace

v1::SandboxMeasure MakeMeasure(const std::string& name,
                               const absl::Status& status) {
  v1::SandboxMeasure measure;
  measure.set_name(name);
  measure.set_holds(status.ok());
  measure.set_reason(std::string(status.message()));
  return measure;
}

std::vector<v1::SandboxMeasure> RestrictThisProcess(
    const v1::DeviceSpec& device) {
  const bool on_cpu = device.platform().empty() || device.platform() == "cpu";
  const SocketFamilies families = {
      .internet = !on_cpu && device.device_count() > 1, .netlink = !on_cpu};
  std::vector<v1::SandboxMeasure> measures;
  measures.push_back(MakeMeasure("privileges", RenouncePrivileges()));
  measures.push_back(MakeMeasure("limits", LowerLimits()));
  const absl::Status filtered = InstallSystemCallFilter(families);
  measures.push_back(MakeMeasure("system calls", filtered));
  measures.push_back(MakeMeasure(
      "network", families.internet ? absl::UnimplementedError(
                                         "several accelerators of one process "
                                         "are joined over sockets")
                                   : filtered));
  return measures;
}

}  // namespace meshwright::worker::sandbox
