#include "coordinator/service/listen_address.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace meshwright::service {
namespace {

absl::Status Explain(const std::string& address, int error) {
  if (error == EADDRINUSE) {
    return absl::AlreadyExistsError(
        absl::StrCat("cannot listen on ", address,
                     ": the port is in use, perhaps by another coordinator; "
                     "choose another one"));
  }
  const std::string message =
      absl::StrCat("cannot listen on ", address, ": ", std::strerror(error));
  if (error == EACCES || error == EPERM) {
    return absl::PermissionDeniedError(message);
  }
  return absl::InvalidArgumentError(message);
}

}  // namespace

absl::Status CheckListenAddress(const std::string& address) {
  if (absl::StartsWith(address, "unix:")) return absl::OkStatus();
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

  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int failure =
      getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (failure != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "cannot listen on ", address, ": ", gai_strerror(failure)));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(
      found, &freeaddrinfo);
  int error = EADDRNOTAVAIL;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    const int probe =
        socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, at->ai_protocol);
    if (probe < 0) continue;
    const int on = 1;
    setsockopt(probe, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    const bool bound =
        bind(probe, at->ai_addr, at->ai_addrlen) == 0 && listen(probe, 1) == 0;
    if (!bound) error = errno;
    close(probe);
    if (bound) return absl::OkStatus();
  }
  return Explain(address, error);
}

}  // namespace meshwright::service
