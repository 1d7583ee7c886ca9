#include "base/interrupt.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <latch>
#include <utility>

namespace meshwright::base {
namespace {

// Where the handler writes; a handler may do little else.
std::atomic<int> write_end = -1;

extern "C" void OnSignal(int signal) {
  const int saved = errno;
  const char byte = signal == SIGHUP ? 'h' : 's';
  if (write(write_end, &byte, 1) < 0) errno = 0;
  errno = saved;
}

}  // namespace

Interrupt::Interrupt(std::function<void()> second, std::function<void()> hangup)
    : second_(std::move(second)), hangup_(std::move(hangup)) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  read_end_ = ends[0];
  write_end = ends[1];
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &old_interrupt_);
  sigaction(SIGTERM, &action, &old_terminate_);
  if (hangup_) sigaction(SIGHUP, &action, &old_hangup_);
  watcher_ = std::jthread([this] { Watch(); });
}

Interrupt::~Interrupt() {
  if (!read_end_.has_value()) return;
  sigaction(SIGINT, &old_interrupt_, nullptr);
  sigaction(SIGTERM, &old_terminate_, nullptr);
  if (hangup_) sigaction(SIGHUP, &old_hangup_, nullptr);
  close(write_end.exchange(-1));  // the watcher reads the end of the pipe
  watcher_.join();                // before its end of the pipe closes
  close(*read_end_);
}

void Interrupt::Watch() {
  int signals = 0;
  while (true) {
    char byte = 0;
    const ssize_t size = read(*read_end_, &byte, 1);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return;
    if (byte == 'h') {
      if (hangup_) hangup_();
    } else if (++signals == 1) {
      first_.request_stop();
    } else if (second_) {
      second_();
    }
  }
}

void Interrupt::Wait() const {
  std::latch stopped{1};
  const std::stop_callback notify(token(), [&] { stopped.count_down(); });
  stopped.wait();
}

}  // namespace meshwright::base
