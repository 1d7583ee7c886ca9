// TimingLock: one timing at a time per device of a machine, whoever asks.
//
// Concept: a file for each device that every runner on the machine locks with
// flock(2): shared while it compiles, exclusively while it times. Nothing
// compiles beside a timing, and a lock ends with the process that holds it,
// however it ends. Runners whose devices overlap exclude each other. Each
// takes all of its files at once or none, so none waits in a circle.
//
//   free ──Share──▶ compiling, with others ──Exclude──▶ timing, alone
//    ▲                                                     │
//    └────────────────────── Release ◀─────────────────────┘
//
// Going from one to the other lets go in between, so two that compile and both
// want to time never wait for each other.
// Errors: Open fails where the file cannot be made or opened
// (kPermissionDenied,
// ...); Share and Exclude say kDeadlineExceeded after `limit`, and hold
// nothing. Threads: one.
#ifndef MESHWRIGHT_WORKER_DEVICES_TIMING_LOCK_H_
#define MESHWRIGHT_WORKER_DEVICES_TIMING_LOCK_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace meshwright::worker::devices {

// What timings exclude each other by: all virtual devices of a machine have one
// name, every accelerator has its own.
std::vector<std::string> NameTimingGroups(
    const std::string& platform, const std::vector<std::string>& devices);

// The folder of the locks, the same for every user of the machine, or they
// would not exclude each other: /run/meshwright-timing or /run/lock, the first
// in which everybody may make files, else /tmp. `root`: of the machine's files.
std::string FindTimingFolder(const std::string& root = "");

class TimingLock {
 public:
  // Called once per Share or Exclude that has to wait.
  using OnWait = std::function<void()>;

  // `groups`: of NameTimingGroups. `folder`: empty means
  // $MESHWRIGHT_LOCK_FOLDER, else FindTimingFolder.
  static absl::StatusOr<std::unique_ptr<TimingLock>> Open(
      const std::vector<std::string>& groups, std::string folder = "");
  ~TimingLock();
  TimingLock(const TimingLock&) = delete;
  TimingLock& operator=(const TimingLock&) = delete;

  // For compiling. Waits up to `limit` in all while someone times. Lets go of
  // what it held.
  absl::Status Share(absl::Duration limit, const OnWait& on_wait);
  // For timing: the same, alone.
  absl::Status Exclude(absl::Duration limit, const OnWait& on_wait);
  // Holding nothing, does nothing.
  void Release();

 private:
  TimingLock() = default;
  absl::Status Acquire(int operation, absl::Duration limit,
                       const OnWait& on_wait);

  std::vector<int> files_;  // in the order of the groups' names
};

}  // namespace meshwright::worker::devices

#endif  // MESHWRIGHT_WORKER_DEVICES_TIMING_LOCK_H_
