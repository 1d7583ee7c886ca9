#include "worker/devices/timing_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace meshwright::worker::devices {
namespace {

constexpr absl::Duration kPause = absl::Milliseconds(20);

std::string LockFolder() {
  const char* const named = std::getenv("MESHWRIGHT_LOCK_FOLDER");
  if (named != nullptr && *named != '\0') return named;
  // The same for every user, or they would not exclude each other.
  constexpr char kRuntime[] = "/run/lock";
  struct stat folder {};
  const bool open_to_all =
      stat(kRuntime, &folder) == 0 && (folder.st_mode & 0777) == 0777;
  return open_to_all ? kRuntime : "/tmp";
}

// A file of another user in a sticky folder opens only without O_CREAT.
int OpenOrMake(const std::string& path) {
  const int there = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (there >= 0 || errno != ENOENT) return there;
  const int made =
      open(path.c_str(), O_RDONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
  // Other users' runners read it too, whatever this one's umask is.
  if (made >= 0) fchmod(made, 0666);
  return made;
}

}  // namespace

std::string NameTimingGroup(const std::string& platform,
                            const std::string& device_name) {
  if (platform == "cpu") return "cpu";
  std::string group;
  for (const char letter : device_name) {
    group += absl::ascii_isalnum(letter) ? letter : '-';
  }
  return group;
}

absl::StatusOr<std::unique_ptr<TimingLock>> TimingLock::Open(
    const std::string& group, std::string folder) {
  if (folder.empty()) folder = LockFolder();
  const std::string path =
      absl::StrCat(folder, "/meshwright-timing-", group, ".lock");
  const int file = OpenOrMake(path);
  if (file < 0) {
    return absl::ErrnoToStatus(errno,
                               absl::StrCat("cannot open the lock ", path));
  }
  return std::unique_ptr<TimingLock>(new TimingLock(file));
}

TimingLock::~TimingLock() { close(file_); }

absl::Status TimingLock::Share(absl::Duration limit, const OnWait& on_wait) {
  return Acquire(LOCK_SH, limit, on_wait);
}

absl::Status TimingLock::Exclude(absl::Duration limit, const OnWait& on_wait) {
  return Acquire(LOCK_EX, limit, on_wait);
}

void TimingLock::Release() { flock(file_, LOCK_UN); }

absl::Status TimingLock::Acquire(int operation, absl::Duration limit,
                                 const OnWait& on_wait) {
  const absl::Time deadline = absl::Now() + limit;
  for (bool first = true;; first = false) {
    if (flock(file_, operation | LOCK_NB) == 0) return absl::OkStatus();
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return absl::ErrnoToStatus(errno, "cannot lock the devices for timing");
    }
    if (absl::Now() >= deadline) {
      flock(file_, LOCK_UN);
      return absl::DeadlineExceededError(
          absl::StrCat("another process has timed on these devices for ",
                       absl::FormatDuration(limit)));
    }
    if (first) on_wait();
    absl::SleepFor(kPause);
  }
}

}  // namespace meshwright::worker::devices
