#include "worker/sandbox/memory_group.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"

namespace meshwright::worker::sandbox {
namespace {

namespace fs = std::filesystem;

constexpr char kWorkerGroup[] = "meshwright-worker";
constexpr char kRunnerGroup[] = "meshwright-run-";

std::string FirstLine(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

absl::Status WriteControl(const fs::path& path, const std::string& value) {
  const int file =
      open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  const bool written = file >= 0 && write(file, value.data(), value.size()) ==
                                        static_cast<ssize_t>(value.size());
  const int error = errno;
  if (file >= 0) close(file);
  if (written) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(
      path.string(), ": ", absl::ErrnoToStatus(error, "").ToString()));
}

// This process's group of version 2, as a folder; none without one.
std::optional<fs::path> OwnGroup(const fs::path& root) {
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (!absl::StartsWith(line, "0::/")) continue;
    const fs::path mount = root / "sys/fs/cgroup";
    if (!fs::exists(mount / "cgroup.controllers")) return std::nullopt;
    const std::string below = line.substr(4);
    return below.empty() ? mount : mount / below;
  }
  return std::nullopt;
}

bool IsMarked(const fs::path& group, const char* name) {
  char value = 0;
  return getxattr(group.c_str(), name, &value, 1) == 1 && value == '1';
}

// Root may write to every group; a service manager marks those it gave away.
bool IsDelegated(const fs::path& group) {
  if (IsMarked(group, "user.delegate") || IsMarked(group, "trusted.delegate")) {
    return true;
  }
  struct stat info = {};
  return geteuid() != 0 && stat((group / "cgroup.procs").c_str(), &info) == 0 &&
         info.st_uid == geteuid() && access(group.c_str(), W_OK) == 0;
}

bool HasMemory(const fs::path& list) {
  for (const auto name : absl::StrSplit(FirstLine(list), ' ')) {
    if (name == "memory") return true;
  }
  return false;
}

bool IsAloneIn(const fs::path& group) {
  std::ifstream file(group / "cgroup.procs");
  pid_t process = 0;
  int count = 0;
  while (file >> process) {
    if (process != getpid()) return false;
    ++count;
  }
  return count == 1;
}

absl::Status MoveBelow(const fs::path& group) {
  std::error_code ignored;
  fs::create_directory(group / kWorkerGroup, ignored);
  return WriteControl(group / kWorkerGroup / "cgroup.procs",
                      absl::StrCat(getpid()));
}

// The delegated group whose groups may have limits; this process is below it.
absl::StatusOr<fs::path> PrepareDelegated(const fs::path& root) {
  const std::optional<fs::path> own = OwnGroup(root);
  if (!own.has_value()) {
    return absl::UnavailableError(
        "this machine has no control groups of version 2");
  }
  const bool below = own->filename() == kWorkerGroup;
  const fs::path group = below ? own->parent_path() : *own;
  if (!IsDelegated(group)) {
    return absl::UnavailableError(
        "no control group is delegated to this process");
  }
  if (!HasMemory(group / "cgroup.controllers")) {
    return absl::UnavailableError(
        absl::StrCat(group.string(), " has no memory controller"));
  }
  if (HasMemory(group / "cgroup.subtree_control")) return group;
  if (!below) {
    if (!IsAloneIn(group)) {
      return absl::UnavailableError(absl::StrCat(
          group.string(), " holds other processes beside this one"));
    }
    RETURN_IF_ERROR(MoveBelow(group));
  }
  RETURN_IF_ERROR(WriteControl(group / "cgroup.subtree_control", "+memory"));
  return group;
}

// Of workers that are gone; a group with processes is not removed.
void RemoveLeftOvers(const fs::path& group) {
  std::error_code error;
  for (fs::directory_iterator it(group, error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    absl::string_view rest = name;
    if (!absl::ConsumePrefix(&rest, kRunnerGroup)) continue;
    pid_t owner = 0;
    if (absl::SimpleAtoi(rest.substr(0, rest.find('-')), &owner) &&
        kill(owner, 0) != 0 && errno == ESRCH) {
      rmdir(it->path().c_str());
    }
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<MemoryGroup>> MemoryGroup::Make(
    int64_t limit_bytes, const fs::path& root) {
  static std::atomic<int> count = 0;
  ASSIGN_OR_RETURN(const fs::path parent, PrepareDelegated(root));
  RemoveLeftOvers(parent);
  const fs::path path =
      parent / absl::StrCat(kRunnerGroup, getpid(), "-", count++);
  if (mkdir(path.c_str(), 0755) != 0) {
    return absl::ErrnoToStatus(
        errno, absl::StrCat("cannot make the group ", path.string()));
  }
  std::unique_ptr<MemoryGroup> group(new MemoryGroup(path));
  RETURN_IF_ERROR(WriteControl(path / "memory.max", absl::StrCat(limit_bytes)));
  RETURN_IF_ERROR(WriteControl(path / "memory.oom.group", "1"));
  return group;
}

MemoryGroup::~MemoryGroup() { rmdir(path_.c_str()); }

absl::Status MemoryGroup::Add(pid_t process) {
  return WriteControl(path_ / "cgroup.procs", absl::StrCat(process));
}

bool MemoryGroup::TakeKill() {
  std::ifstream file(path_ / "memory.events");
  std::string name;
  int64_t count = 0;
  int64_t limits_met = 0;
  int64_t kills = 0;
  while (file >> name >> count) {
    if (name == "oom") limits_met = count;
    if (name == "oom_kill") kills = count;
  }
  const bool is_met = limits_met > std::exchange(limits_met_, limits_met);
  const bool is_killed = kills > std::exchange(kills_, kills);
  return is_met && is_killed;
}

int64_t ComputeRunnerMemoryLimit() {
  return static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE) /
         100 * 95;
}

}  // namespace meshwright::worker::sandbox
