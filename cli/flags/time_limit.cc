#include "cli/flags/time_limit.h"

#include "base/mutex.h"

namespace meshwright::cli {

bool WaitFor(absl::Duration time, const std::stop_token& stop) {
  base::Mutex mutex;
  bool is_stopped = false;
  const std::stop_callback wake(stop, [&] {
    base::MutexLock lock(&mutex);
    is_stopped = true;
  });
  base::MutexLock lock(&mutex);
  return !mutex.AwaitWithTimeout(absl::Condition(&is_stopped), time);
}

TimeLimit::TimeLimit(std::optional<absl::Duration> limit)
    : forward_(interrupt_.token(), [this] { source_.request_stop(); }) {
  if (!limit.has_value()) return;
  timer_ = std::jthread([this, limit](const std::stop_token& stop) {
    if (!WaitFor(*limit, stop)) return;
    has_passed_ = true;
    source_.request_stop();
  });
}

}  // namespace meshwright::cli
