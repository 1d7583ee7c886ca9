#include "coordinator/service/listen_address.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
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

// gRPC takes the place of a socket that is there. One that a process left
// behind answers nobody; one that answers is another coordinator's, which would
// hear of no call any more.
absl::Status CheckSocket(const std::string& address, absl::string_view path) {
  sockaddr_un at = {};
  at.sun_family = AF_UNIX;
  if (path.size() >= sizeof(at.sun_path)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "cannot listen on ", address, ": the path has ", path.size(),
        " bytes; give one of at most ", sizeof(at.sun_path) - 1));
  }
  path.copy(at.sun_path, path.size());
  const int probe =
      socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (probe < 0) return Explain(address, errno);
  // EAGAIN: more wait there than it takes at once.
  const bool answers =
      connect(probe, reinterpret_cast<const sockaddr*>(&at), sizeof(at)) == 0 ||
      errno == EAGAIN;
  close(probe);
  if (!answers) return absl::OkStatus();
  return absl::AlreadyExistsError(
      absl::StrCat("cannot listen on ", address,
                   ": another process listens there; stop it, or choose "
                   "another path"));
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

std::string NameForOthers(const std::string& address) {
  const size_t colon = address.rfind(':');
  const std::string host = address.substr(0, colon);
  if (host != "0.0.0.0" && host != "[::]" && host != "::") return address;
  char name[256] = {};
  if (gethostname(name, sizeof(name) - 1) != 0) return address;
  return absl::StrCat(name, address.substr(colon));
}

absl::Status CheckListenAddress(const std::string& address) {
  absl::string_view path = address;
  if (absl::ConsumePrefix(&path, "unix:")) return CheckSocket(address, path);
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
  if (failure != 0) return ExplainLookup(address, failure);
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
