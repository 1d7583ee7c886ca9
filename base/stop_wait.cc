#include "base/stop_wait.h"

#include "base/mutex.h"

namespace meshwright::base {

bool WaitFor(absl::Duration time, const std::stop_token& stop) {
  Mutex mutex;
  bool is_stopped = false;
  const std::stop_callback wake(stop, [&] {
    MutexLock lock(&mutex);
    is_stopped = true;
  });
  MutexLock lock(&mutex);
  return !mutex.AwaitWithTimeout(absl::Condition(&is_stopped), time);
}

}  // namespace meshwright::base
