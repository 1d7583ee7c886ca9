#include "coordinator/daemon/own_port.h"

#include <netdb.h>
#include <poll.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/log/log.h"
#include "base/status_macros.h"

namespace meshwright::daemon {
namespace {

// Until one of the events, an error or the end of the connection.
absl::Status Await(int connection, short events, absl::Duration patience) {
  pollfd waits = {};
  waits.fd = connection;
  waits.events = events;
  int ready = 0;
  do {
    ready =
        poll(&waits, 1, static_cast<int>(absl::ToInt64Milliseconds(patience)));
  } while (ready < 0 && errno == EINTR);
  if (ready > 0) return absl::OkStatus();
  return absl::DeadlineExceededError(absl::StrCat(
      "nobody took a connection for ", absl::FormatDuration(patience)));
}

absl::Status KnockOn(int connection, const sockaddr_storage& at, socklen_t size,
                     absl::Duration patience) {
  if (connect(connection, reinterpret_cast<const sockaddr*>(&at), size) != 0 &&
      errno != EINPROGRESS) {
    return absl::ErrnoToStatus(errno, "no connection is taken");
  }
  RETURN_IF_ERROR(Await(connection, POLLOUT, patience));
  int error = 0;
  socklen_t bytes = sizeof(error);
  getsockopt(connection, SOL_SOCKET, SO_ERROR, &error, &bytes);
  if (error != 0) return absl::ErrnoToStatus(error, "no connection is taken");
  // Who took the connection ends it, too. Words that are no TLS would be a line
  // in the log at each knock.
  shutdown(connection, SHUT_WR);
  return Await(connection, POLLIN, patience);
}

}  // namespace

OwnPort::OwnPort(const std::string& address) : address_(address) {
  constexpr std::string_view kUnix = "unix:";
  if (address.starts_with(kUnix)) {
    const std::string path = address.substr(kUnix.size());
    sockaddr_un at = {};
    at.sun_family = AF_UNIX;
    if (path.size() >= sizeof(at.sun_path)) return;
    std::memcpy(at.sun_path, path.data(), path.size());
    size_ = sizeof(at);
    std::memcpy(&at_, &at, size_);
    return;
  }
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos) return;
  std::string host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  }
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port = address.substr(colon + 1);
  if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) return;
  size_ = found->ai_addrlen;
  std::memcpy(&at_, found->ai_addr, size_);
  freeaddrinfo(found);
}

absl::Status OwnPort::Knock(absl::Duration patience) const {
  const int connection =
      socket(at_.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (connection < 0) {
    return absl::ErrnoToStatus(errno, "no connection can be opened");
  }
  absl::Status answered = KnockOn(connection, at_, size_, patience);
  close(connection);
  return answered;
}

void OwnPort::Note(const absl::Status& knocked) {
  has_answered_ = has_answered_ || knocked.ok();
  const bool is_deaf = has_answered_ && !knocked.ok();
  if (is_deaf && !is_deaf_) {
    base::LogWarning("coordinator: ", address_, " answers no connection (",
                     knocked.message(), "); its watchdog is not answered, so ",
                     "that a service manager starts it again");
  }
  is_deaf_ = is_deaf;
}

}  // namespace meshwright::daemon
