// ReadProcessFamily: a process and all that it started, by /proc.
//
// Units: the CPU time of all of them, with that of children that ended and
// were waited for; in steps of the kernel's tick (10 ms).
// Errors: none; a process that ends meanwhile is left out. Threads: any.
#ifndef MESHWRIGHT_WORKER_DEVICES_PROCESS_FAMILY_H_
#define MESHWRIGHT_WORKER_DEVICES_PROCESS_FAMILY_H_

#include <sys/types.h>

#include <filesystem>
#include <set>
#include <string>

#include "absl/time/time.h"

namespace meshwright::worker::devices {

struct ProcessFamily {
  std::set<pid_t> members;  // with `head`
  absl::Duration cpu_time;
};

// `root`: of /proc.
ProcessFamily ReadProcessFamily(pid_t head,
                                const std::filesystem::path& root = "/");

// "process 4711 (python3)".
std::string DescribeProcess(pid_t process,
                            const std::filesystem::path& root = "/");

}  // namespace meshwright::worker::devices

#endif  // MESHWRIGHT_WORKER_DEVICES_PROCESS_FAMILY_H_
