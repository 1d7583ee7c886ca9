#include "cli/flags/time_limit.h"

#include "base/stop_wait.h"

namespace meshwright::cli {

TimeLimit::TimeLimit(std::optional<absl::Duration> limit)
    : forward_(interrupt_.token(), [this] { source_.request_stop(); }) {
  if (!limit.has_value()) return;
  timer_ = std::jthread([this, limit](const std::stop_token& stop) {
    if (!base::WaitFor(*limit, stop)) return;
    has_passed_ = true;
    source_.request_stop();
  });
}

}  // namespace meshwright::cli
