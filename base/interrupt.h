// Interrupt: SIGINT and SIGTERM as a stop token instead of a sudden end.
//
// Concept: the first signal requests a stop; what runs winds down, its
// children with it. The second one calls `second`, for those who cannot wait.
// SIGHUP asks a daemon to read its files again.
// Threads and ownership: at most one per process at a time; the old handlers
// come back with the destructor.
#ifndef MESHWRIGHT_BASE_INTERRUPT_H_
#define MESHWRIGHT_BASE_INTERRUPT_H_

#include <csignal>
#include <functional>
#include <optional>
#include <stop_token>
#include <thread>

namespace meshwright::base {

class Interrupt {
 public:
  // `hangup` is called for each SIGHUP; without it that signal is left alone.
  explicit Interrupt(std::function<void()> second = nullptr,
                     std::function<void()> hangup = nullptr);
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  std::stop_token token() const { return first_.get_token(); }
  // Blocks until the first signal.
  void Wait() const;

 private:
  void Watch();

  std::function<void()> second_;
  std::function<void()> hangup_;
  std::stop_source first_;
  std::optional<int> read_end_;  // of the pipe; none: signals end the process
  struct sigaction old_interrupt_ = {};
  struct sigaction old_terminate_ = {};
  struct sigaction old_hangup_ = {};
  std::jthread watcher_;
};

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_INTERRUPT_H_
