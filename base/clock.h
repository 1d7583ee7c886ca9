// Clock: where daemons get the time from, so that tests move it by hand.
//
// Threads: all methods from any thread. A clock outlives whoever holds it.
#ifndef MESHWRIGHT_BASE_CLOCK_H_
#define MESHWRIGHT_BASE_CLOCK_H_

#include <chrono>

#include "absl/base/thread_annotations.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/mutex.h"

namespace meshwright::base {

class Clock {
 public:
  virtual ~Clock() = default;
  // Never waits, and may be called from any thread.
  virtual absl::Time Now() const = 0;
};

class SystemClock : public Clock {
 public:
  absl::Time Now() const override { return absl::Now(); }
};

// For spans of time: it is never set, so an hour is an hour. Its zero says
// nothing.
class SteadyClock : public Clock {
 public:
  absl::Time Now() const override {
    return absl::UnixEpoch() +
           absl::FromChrono(
               std::chrono::steady_clock::now().time_since_epoch());
  }
};

class FakeClock : public Clock {
 public:
  absl::Time Now() const override {
    base::MutexLock lock(&mutex_);
    return now_;
  }

  // The time does not move otherwise.
  void Advance(absl::Duration step) {
    base::MutexLock lock(&mutex_);
    now_ += step;
  }

 private:
  mutable base::Mutex mutex_;
  absl::Time now_ ABSL_GUARDED_BY(mutex_) = absl::FromUnixSeconds(1'000'000);
};

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_CLOCK_H_
