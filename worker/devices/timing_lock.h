// TimingLock: one timing at a time per device group of a machine, whoever asks.
//
// Concept: a file that every runner on the machine locks with flock(2): shared
// while it compiles, exclusively while it times. Nothing compiles beside a
// timing, and a lock ends with the process that holds it, however it ends.
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

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace meshwright::worker::devices {

// Which timings exclude each other: those of all virtual devices of a machine,
// and those of one accelerator. `device_name`: that of the first.
std::string NameTimingGroup(const std::string& platform,
                            const std::string& device_name);

class TimingLock {
 public:
  // Called once per Share or Exclude that has to wait.
  using OnWait = std::function<void()>;

  // `group` names the devices: "cpu", or an accelerator's UUID. `folder`:
  // $MESHWRIGHT_LOCK_FOLDER, else /run/lock, or /tmp where that cannot be
  // written.
  static absl::StatusOr<std::unique_ptr<TimingLock>> Open(
      const std::string& group, std::string folder = "");
  ~TimingLock();
  TimingLock(const TimingLock&) = delete;
  TimingLock& operator=(const TimingLock&) = delete;

  // For compiling. Waits up to `limit` while someone times. Lets go of what it
  // held.
  absl::Status Share(absl::Duration limit, const OnWait& on_wait);
  // For timing: the same, alone.
  absl::Status Exclude(absl::Duration limit, const OnWait& on_wait);
  // Holding nothing, does nothing.
  void Release();

 private:
  explicit TimingLock(int file) : file_(file) {}
  absl::Status Acquire(int operation, absl::Duration limit,
                       const OnWait& on_wait);

  const int file_;
};

}  // namespace meshwright::worker::devices

#endif  // MESHWRIGHT_WORKER_DEVICES_TIMING_LOCK_H_
