// Supervisor: the service manager that started this process, and what it is
// sent (systemd's protocol of sd_notify(3)).
//
// Concept: the manager hands a datagram socket over in NOTIFY_SOCKET. The
// daemon writes one message for each turn of its life. The protocol is fixed
// and small, so that no library is linked for it. Without the variable, every
// method does nothing.
//
//   starting ── Ready ──▶ serving ── Stopping ──▶ (the process ends)
//                        │      ▲
//                 Reloading     Ready        Alive: at least every
//                        └──────┘            watchdog() while serving
//
// Errors: none; a manager that went away hears nothing. Threads: any.
#ifndef MESHWRIGHT_BASE_SUPERVISOR_H_
#define MESHWRIGHT_BASE_SUPERVISOR_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"

namespace meshwright::base {

class Supervisor {
 public:
  // From NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID of the environment.
  Supervisor();
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  // Whether one started this process.
  bool is_there() const { return socket_.has_value(); }

  // `status` is one line for people.
  void Ready(std::string_view status) const;
  // Between this and the next Ready the configuration is read again.
  void Reloading() const;
  // `status` as in Ready.
  void Stopping(std::string_view status) const;
  // Does nothing unless the manager watches this process.
  void Alive() const;

  // How long it waits for Alive before it restarts the process; none: it does
  // not watch.
  std::optional<absl::Duration> watchdog() const { return watchdog_; }

 private:
  void Send(const std::string& message) const;

  std::string path_;  // a leading '@' stands for the abstract namespace
  std::optional<int> socket_;
  std::optional<absl::Duration> watchdog_;
};

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_SUPERVISOR_H_
