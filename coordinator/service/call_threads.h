// CallThreads: one thread per long call, all joined before the owner ends.
//
// Threads: Run from any thread; Join by the owner, once no Run can follow.
#ifndef MESHWRIGHT_COORDINATOR_SERVICE_CALL_THREADS_H_
#define MESHWRIGHT_COORDINATOR_SERVICE_CALL_THREADS_H_

#include <functional>
#include <list>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace meshwright::service {

class CallThreads {
 public:
  ~CallThreads() { Join(); }

  void Run(std::function<void()> call) ABSL_LOCKS_EXCLUDED(mutex_);
  // True once no call runs, false if some still do after `timeout`.
  bool AwaitIdle(absl::Duration timeout) ABSL_LOCKS_EXCLUDED(mutex_);
  void Join() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Call {
    std::thread thread;
    bool over = false;
  };
  bool Idle() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return running_ == 0;
  }

  absl::Mutex mutex_;
  std::list<Call> calls_ ABSL_GUARDED_BY(mutex_);
  int running_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace meshwright::service

#endif  // MESHWRIGHT_COORDINATOR_SERVICE_CALL_THREADS_H_
