// MemoryGroup: a control group that bounds the memory of one runner.
//
// Concept: a program that eats the machine's memory is ended by the kernel, as
// a whole, before the kernel ends others. It holds where a service manager has
// delegated this process's group (version 2) to us. This process must be alone
// in it, or in the group that a former Make or the manager made below:
//
//   D/                      delegated: this user's, or marked user.delegate
//     meshwright-worker     this process, moved there if it was in D
//     meshwright-run-PID-N  one runner; memory.max, memory.oom.group
//
// Units: bytes. Errors: kUnavailable with the reason, where it does not hold;
// nothing is changed then. Threads: one.
// Ownership: the group goes with the object, which must outlive its processes.
// Groups of killed workers are removed by the next Make.
// Source: Linux, Documentation/admin-guide/cgroup-v2.rst, "Delegation" and
// memory.events (`oom` is of the group's own limit, `oom_kill` of any).
#ifndef MESHWRIGHT_WORKER_SANDBOX_MEMORY_GROUP_H_
#define MESHWRIGHT_WORKER_SANDBOX_MEMORY_GROUP_H_

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace meshwright::worker::sandbox {

class MemoryGroup {
 public:
  // `root`: of /proc and /sys.
  static absl::StatusOr<std::unique_ptr<MemoryGroup>> Make(
      int64_t limit_bytes, const std::filesystem::path& root = "/");
  ~MemoryGroup();
  MemoryGroup(const MemoryGroup&) = delete;
  MemoryGroup& operator=(const MemoryGroup&) = delete;

  // Moves the process into the group. kUnavailable where the kernel refuses.
  absl::Status Add(pid_t process);

  // Whether the kernel has ended processes of the group since the last call
  // because the group had reached its limit. It ends them as well where the
  // machine, or a group above this one, has no memory left: false.
  bool TakeKill();

  const std::filesystem::path& path() const { return path_; }

 private:
  explicit MemoryGroup(std::filesystem::path path) : path_(std::move(path)) {}

  const std::filesystem::path path_;
  int64_t limits_met_ = 0;  // of the last TakeKill
  int64_t kills_ = 0;
};

// The memory that a runner may have, so that the rest of the machine goes on:
// 95 % of all.
int64_t ComputeRunnerMemoryLimit();

}  // namespace meshwright::worker::sandbox

#endif  // MESHWRIGHT_WORKER_SANDBOX_MEMORY_GROUP_H_
