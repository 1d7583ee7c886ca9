// TimeLimit: a stop token for an interrupt, or for time that is over.
//
// Threads and ownership: a thread of its own waits for the time, until the
// object goes. It holds the process's Interrupt (base/interrupt.h). Errors:
// none.
#ifndef MESHWRIGHT_CLI_FLAGS_TIME_LIMIT_H_
#define MESHWRIGHT_CLI_FLAGS_TIME_LIMIT_H_

#include <atomic>
#include <functional>
#include <optional>
#include <stop_token>
#include <thread>

#include "absl/time/time.h"
#include "base/interrupt.h"

namespace meshwright::cli {

class TimeLimit {
 public:
  // Absent: no limit.
  explicit TimeLimit(std::optional<absl::Duration> limit);

  std::stop_token token() const { return source_.get_token(); }
  bool has_passed() const { return has_passed_; }

 private:
  const base::Interrupt interrupt_;
  std::stop_source source_;
  std::atomic<bool> has_passed_ = false;
  const std::stop_callback<std::function<void()>> forward_;
  std::jthread timer_;
};

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_FLAGS_TIME_LIMIT_H_
