#include "worker/devices/timing_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/clock.h"
#include "base/status_macros.h"

namespace meshwright::worker::devices {
namespace {

constexpr absl::Duration kPause = absl::Milliseconds(20);

// The first is made by the worker's unit (deploy/systemd), which has a /tmp of
// its own.
constexpr const char* kFolders[] = {"/run/meshwright-timing", "/run/lock"};

std::string LockFolder() {
  const char* const named = std::getenv("MESHWRIGHT_LOCK_FOLDER");
  return named != nullptr && *named != '\0' ? named : FindTimingFolder();
}

// A file of another user in a sticky folder opens only without O_CREAT. A pipe
// that another user made there would else wait for somebody who writes.
int OpenOrMake(const std::string& path) {
  const int there =
      open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (there >= 0 || errno != ENOENT) return there;
  const int made =
      open(path.c_str(), O_RDONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
  // Other users' runners read it too, whatever this one's umask is.
  if (made >= 0) fchmod(made, 0666);
  return made;
}

// Of all of them, without waiting. False: one is somebody else's.
absl::StatusOr<bool> TryFiles(const std::vector<int>& files, int operation) {
  for (const int file : files) {
    while (flock(file, operation | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno == EWOULDBLOCK) return false;
      return absl::ErrnoToStatus(errno, "cannot lock the devices for timing");
    }
  }
  return true;
}

}  // namespace

std::string FindTimingFolder(const std::string& root) {
  for (const char* const folder : kFolders) {
    std::string path = absl::StrCat(root, folder);
    struct stat info = {};
    const bool open_to_all =
        stat(path.c_str(), &info) == 0 && (info.st_mode & 0777) == 0777;
    if (open_to_all) return path;
  }
  return absl::StrCat(root, "/tmp");
}

std::vector<std::string> NameTimingGroups(
    const std::string& platform, const std::vector<std::string>& devices) {
  if (platform == "cpu") return {"cpu"};
  std::set<std::string> groups;
  for (const std::string& device : devices) {
    std::string group;
    for (const char letter : device) {
      group += absl::ascii_isalnum(letter) ? letter : '-';
    }
    groups.insert(std::move(group));
  }
  return {groups.begin(), groups.end()};
}

absl::StatusOr<std::unique_ptr<TimingLock>> TimingLock::Open(
    const std::vector<std::string>& groups, std::string folder) {
  if (folder.empty()) folder = LockFolder();
  std::unique_ptr<TimingLock> lock(new TimingLock());
  for (const std::string& group : std::set(groups.begin(), groups.end())) {
    const std::string path =
        absl::StrCat(folder, "/meshwright-timing-", group, ".lock");
    const int file = OpenOrMake(path);
    if (file < 0) {
      return absl::ErrnoToStatus(errno,
                                 absl::StrCat("cannot open the lock ", path));
    }
    lock->files_.push_back(file);
  }
  return lock;
}

TimingLock::~TimingLock() {
  for (const int file : files_) close(file);
}

absl::Status TimingLock::Share(absl::Duration limit, const OnWait& on_wait) {
  return Acquire(LOCK_SH, limit, on_wait);
}

absl::Status TimingLock::Exclude(absl::Duration limit, const OnWait& on_wait) {
  return Acquire(LOCK_EX, limit, on_wait);
}

void TimingLock::Release() {
  for (const int file : files_) flock(file, LOCK_UN);
}

absl::Status TimingLock::Acquire(int operation, absl::Duration limit,
                                 const OnWait& on_wait) {
  const base::SteadyClock clock;
  const absl::Time deadline = clock.Now() + limit;
  for (bool waits = false; true; waits = true) {
    // Whoever held some while it waits for others would be waited for: by
    // another that shares, or a member of a gang that waits for its peers.
    Release();
    const absl::StatusOr<bool> all = TryFiles(files_, operation);
    if (all.ok() && *all) return absl::OkStatus();
    Release();
    RETURN_IF_ERROR(all.status());
    if (clock.Now() >= deadline) {
      return absl::DeadlineExceededError(
          absl::StrCat("another process has timed on these devices for ",
                       absl::FormatDuration(limit)));
    }
    if (!waits) on_wait();
    absl::SleepFor(kPause);
  }
}

}  // namespace meshwright::worker::devices
