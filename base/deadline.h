// Deadline: when work must end, whether by the clock or because whoever asked
// for it no longer wants it.
//
// Concept: a plain value, copied freely. Long work asks HasPassed() often and
// returns the best answer it has.
// Units: the steady clock.
// Threads: const methods from any thread.
#ifndef MESHWRIGHT_BASE_DEADLINE_H_
#define MESHWRIGHT_BASE_DEADLINE_H_

#include <chrono>
#include <optional>
#include <stop_token>
#include <utility>

namespace meshwright::base {

struct Deadline {
  using Clock = std::chrono::steady_clock;

  std::optional<Clock::time_point> at;  // none: no time limit
  std::stop_token stop;

  // So long from now.
  static Deadline After(std::chrono::duration<double> time,
                        std::stop_token stop = {}) {
    return {Clock::now() + std::chrono::duration_cast<Clock::duration>(time),
            std::move(stop)};
  }

  // False where no limit exists and nobody can ask for a stop.
  bool IsPossible() const { return at.has_value() || stop.stop_possible(); }

  bool HasPassed() const {
    return stop.stop_requested() || (at.has_value() && Clock::now() >= *at);
  }
};

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_DEADLINE_H_
