#include "base/supervisor.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace meshwright::base {
namespace {

std::string EnvironmentValue(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The clock that the manager compares with its own.
int64_t MonotonicMicroseconds() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000;
}

// A message is a list of lines.
std::string StatusLine(std::string_view status) {
  std::string line = absl::StrCat("STATUS=", std::string(status));
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

}  // namespace

Supervisor::Supervisor() : path_(EnvironmentValue("NOTIFY_SOCKET")) {
  if (path_.empty() || (path_[0] != '/' && path_[0] != '@') ||
      path_.size() >= sizeof(sockaddr_un::sun_path)) {
    return;
  }
  const int made = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (made < 0) return;
  socket_ = made;
  // Both variables may be a parent's, for a process of its own.
  int64_t microseconds = 0;
  pid_t process = 0;
  const std::string watched = EnvironmentValue("WATCHDOG_PID");
  if (absl::SimpleAtoi(EnvironmentValue("WATCHDOG_USEC"), &microseconds) &&
      microseconds > 0 &&
      (watched.empty() ||
       (absl::SimpleAtoi(watched, &process) && process == getpid()))) {
    watchdog_ = absl::Microseconds(microseconds);
  }
}

Supervisor::~Supervisor() {
  if (socket_.has_value()) close(*socket_);
}

void Supervisor::Ready(std::string_view status) const {
  Send(absl::StrCat("READY=1\n", StatusLine(status)));
}

void Supervisor::Reloading() const {
  Send(absl::StrCat("RELOADING=1\nMONOTONIC_USEC=", MonotonicMicroseconds()));
}

void Supervisor::Stopping(std::string_view status) const {
  Send(absl::StrCat("STOPPING=1\n", StatusLine(status)));
}

void Supervisor::Alive() const {
  if (watchdog_.has_value()) Send("WATCHDOG=1");
}

void Supervisor::Send(const std::string& message) const {
  if (!socket_.has_value()) return;
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path_.data(), path_.size());
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';
  const auto size =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path_.size());
  // A manager that does not read must not hold the daemon up.
  sendto(*socket_, message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
         reinterpret_cast<const sockaddr*>(&address), size);
}

}  // namespace meshwright::base
