#include "base/rpc/listening_sockets.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"

namespace meshwright::base {
namespace {

constexpr absl::string_view kUnix = "unix:";
constexpr int kFreePorts = 10;  // that are tried where a host has addresses

absl::Status Explain(const std::string& address, int error) {
  if (error == EADDRINUSE) {
    return absl::AlreadyExistsError(
        absl::StrCat("cannot listen on ", address,
                     ": the port is in use, perhaps by another coordinator; "
                     "choose another one"));
  }
  if (error == EADDRNOTAVAIL) {
    return absl::AlreadyExistsError(
        absl::StrCat("cannot listen on ", address,
                     ": this machine does not have the address; name one that "
                     "it has, or bring its interface up"));
  }
  const std::string message =
      absl::StrCat("cannot listen on ", address, ": ", std::strerror(error));
  if (error == EACCES || error == EPERM) {
    return absl::PermissionDeniedError(message);
  }
  return absl::InvalidArgumentError(message);
}

// Gives the socket, or an errno below zero.
int Listen(const sockaddr* at, socklen_t size) {
  const int made =
      socket(at->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (made < 0) return -errno;
  const int on = 1;
  const int off = 0;
  setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (at->sa_family == AF_INET6) {
    const auto& host = reinterpret_cast<const sockaddr_in6*>(at)->sin6_addr;
    const bool is_any = IN6_IS_ADDR_UNSPECIFIED(&host);
    setsockopt(made, IPPROTO_IPV6, IPV6_V6ONLY, is_any ? &off : &on,
               sizeof(on));
  }
  if (bind(made, at, size) == 0 && listen(made, SOMAXCONN) == 0) return made;
  const int error = errno;
  close(made);
  return -error;
}

// ECONNREFUSED of a socket that a process left behind, ENOENT where none is,
// 0 where one answers.
int Probe(const sockaddr_un& at) {
  const int probe =
      socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (probe < 0) return errno;
  const bool answers =
      connect(probe, reinterpret_cast<const sockaddr*>(&at), sizeof(at)) == 0;
  const int error = errno;
  close(probe);
  // EAGAIN: more wait there than it takes at once.
  return answers || error == EAGAIN ? 0 : error;
}

int ReadPort(int socket) {
  sockaddr_storage at = {};
  socklen_t size = sizeof(at);
  getsockname(socket, reinterpret_cast<sockaddr*>(&at), &size);
  // The port is in one place in both families.
  return ntohs(reinterpret_cast<const sockaddr_in*>(&at)->sin_port);
}

void SetPort(int port, sockaddr* at) {
  reinterpret_cast<sockaddr_in*>(at)->sin_port =
      htons(static_cast<uint16_t>(port));
}

}  // namespace

absl::Status ExplainLookup(const std::string& address, int failure) {
  const std::string message =
      absl::StrCat("cannot listen on ", address, ": ", gai_strerror(failure));
  if (failure == EAI_AGAIN || failure == EAI_SYSTEM) {
    return absl::UnavailableError(absl::StrCat(
        message, "; bring the name service up, or give an address"));
  }
  return absl::InvalidArgumentError(message);
}

absl::StatusOr<ListeningSockets> ListeningSockets::Open(
    const std::string& address) {
  ListeningSockets made;
  made.address_ = address;
  absl::string_view path = address;
  if (absl::ConsumePrefix(&path, kUnix)) {
    RETURN_IF_ERROR(made.OpenPath(std::string(path)));
    return made;
  }
  const size_t colon = address.rfind(':');
  uint32_t port = 0;
  if (colon == std::string::npos || colon == 0 ||
      !absl::SimpleAtoi(address.substr(colon + 1), &port) || port > 65535) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", address, "\" is no address to listen on; write HOST:PORT"));
  }
  std::string host = address.substr(0, colon);
  if (host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  if (host == "0.0.0.0") {
    if (made.OpenPort("::", static_cast<int>(port)).ok()) return made;
  }
  RETURN_IF_ERROR(made.OpenPort(host, static_cast<int>(port)));
  return made;
}

absl::Status ListeningSockets::OpenPath(const std::string& path) {
  sockaddr_un at = {};
  at.sun_family = AF_UNIX;
  if (path.size() >= sizeof(at.sun_path)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "cannot listen on ", address_, ": the path has ", path.size(),
        " bytes; give one of at most ", sizeof(at.sun_path) - 1));
  }
  path.copy(at.sun_path, path.size());
  struct stat there = {};
  if (lstat(path.c_str(), &there) == 0 && !S_ISSOCK(there.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot listen on ", address_,
                     ": what is there is no socket; choose another path"));
  }
  switch (const int error = Probe(at)) {
    case 0:
      return absl::AlreadyExistsError(
          absl::StrCat("cannot listen on ", address_,
                       ": another process listens there; stop it, or choose "
                       "another path"));
    case ECONNREFUSED:
      unlink(path.c_str());
      break;
    case ENOENT:
      break;
    default:
      return Explain(address_, error);
  }
  const int made = Listen(reinterpret_cast<const sockaddr*>(&at), sizeof(at));
  if (made < 0) return Explain(address_, -made);
  sockets_ = {made};
  path_ = path;
  return absl::OkStatus();
}

absl::Status ListeningSockets::OpenPort(const std::string& host, int port) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int failure = getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (failure != 0) return ExplainLookup(address_, failure);
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(
      found, &freeaddrinfo);
  const int tries = port == 0 ? kFreePorts : 1;
  for (int i = 0; i < tries; ++i) {
    ASSIGN_OR_RETURN(const bool is_taken, TryPort(found, port));
    if (is_taken) return absl::OkStatus();
  }
  return Explain(address_, EADDRINUSE);
}

absl::StatusOr<bool> ListeningSockets::TryPort(const addrinfo* addresses,
                                               int port) {
  int error = EADDRNOTAVAIL;
  for (const addrinfo* at = addresses; at != nullptr; at = at->ai_next) {
    SetPort(port, at->ai_addr);
    const int made = Listen(at->ai_addr, at->ai_addrlen);
    if (made >= 0) {
      sockets_.push_back(made);
      if (port == 0) port = ReadPort(made);
      continue;
    }
    error = -made;
    // /etc/hosts may have an address twice.
    if (error == EADDRINUSE && !IsOurs(at->ai_addr, at->ai_addrlen)) {
      for (const int open : Release()) close(open);
      return false;
    }
  }
  if (sockets_.empty()) return Explain(address_, error);
  address_ = absl::StrCat(address_.substr(0, address_.rfind(':')), ":", port);
  return true;
}

std::vector<int> ListeningSockets::Release() {
  return std::exchange(sockets_, {});
}

bool ListeningSockets::IsOurs(const sockaddr* at, socklen_t size) const {
  return std::ranges::any_of(sockets_, [&](int socket) {
    sockaddr_storage ours = {};
    socklen_t length = sizeof(ours);
    getsockname(socket, reinterpret_cast<sockaddr*>(&ours), &length);
    return length == size && std::memcmp(&ours, at, size) == 0;
  });
}

ListeningSockets::ListeningSockets(ListeningSockets&& other) noexcept
    : address_(std::move(other.address_)),
      path_(std::exchange(other.path_, "")),
      sockets_(other.Release()) {}

ListeningSockets::~ListeningSockets() {
  // First the path: whoever comes next makes its own.
  if (!path_.empty()) unlink(path_.c_str());
  for (const int open : sockets_) close(open);
}

}  // namespace meshwright::base
