// Mutex: a std::mutex whose waiters name the condition they wait for.
//
// Concept: whoever gives the mutex up wakes the waiters, which evaluate their
// conditions while they hold it, as with absl::Mutex; nobody signals. Unlike
// Debian's Abseil, the thread sanitizer knows what it is made of.
// Threads: all methods from any thread; Unlock and waits by the holder.
#ifndef MESHWRIGHT_BASE_MUTEX_H_
#define MESHWRIGHT_BASE_MUTEX_H_

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace meshwright::base {

class ABSL_LOCKABLE Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  // Waits until no other thread holds it. Not recursive.
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() {
    WakeWaiters();
    mutex_.unlock();
  }

  // Gives the mutex up until the condition holds.
  void Await(const absl::Condition& condition)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(this) {
    Wait([&](auto& lock) {
      changed_.wait(lock, [&] { return condition.Eval(); });
      return true;
    });
  }

  // False if it does not hold after `timeout`.
  bool AwaitWithTimeout(const absl::Condition& condition,
                        absl::Duration timeout)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(this) {
    const absl::Duration max = absl::Hours(24 * 365);
    const auto deadline = std::chrono::steady_clock::now() +
                          absl::ToChronoNanoseconds(std::min(timeout, max));
    return Wait([&](auto& lock) {
      return changed_.wait_until(lock, deadline,
                                 [&] { return condition.Eval(); });
    });
  }

 private:
  void WakeWaiters() {
    if (waiters_ > 0) changed_.notify_all();
  }

  template <typename Call>
  bool Wait(const Call& call) {
    WakeWaiters();
    std::unique_lock lock(mutex_, std::adopt_lock);
    ++waiters_;
    const bool holds = call(lock);
    --waiters_;
    lock.release();
    return holds;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int waiters_ = 0;
};

class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex* mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex)
      : mutex_(mutex) {
    mutex_->Lock();
  }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mutex_->Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex* const mutex_;
};

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_MUTEX_H_
