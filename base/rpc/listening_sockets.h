// ListeningSockets: where a daemon takes connections.
//
// Concept: gRPC and Asio say only that a port could not be bound; here the
// person reads why. A host may have several addresses, as localhost does: each
// that this machine has is listened at, all with one port. Every address of a
// machine (0.0.0.0, [::]) is one socket of both families where it has IPv6.
// The sockets do not block.
//   A path is listened at where none is, or where a process left its socket
// behind: one that answers is another process's, which would hear of no call
// any more.
// Ownership: closes the sockets, and removes the path that it made.
// Errors: kAlreadyExists for what may pass: a busy port, a socket that answers,
// an address that this machine does not have. kUnavailable where the name
// service does not answer. kInvalidArgument (no HOST:PORT, or a host that is
// none), kPermissionDenied. Each is one sentence.
#ifndef MESHWRIGHT_BASE_RPC_LISTENING_SOCKETS_H_
#define MESHWRIGHT_BASE_RPC_LISTENING_SOCKETS_H_

#include <netdb.h>
#include <sys/socket.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace meshwright::base {

class ListeningSockets {
 public:
  // `address` is HOST:PORT, [IPV6]:PORT or unix:PATH; port 0 takes a free one.
  static absl::StatusOr<ListeningSockets> Open(const std::string& address);
  ~ListeningSockets();
  ListeningSockets(ListeningSockets&& other) noexcept;
  ListeningSockets(const ListeningSockets&) = delete;
  ListeningSockets& operator=(const ListeningSockets&) = delete;

  // As given, with the port that was taken.
  const std::string& address() const { return address_; }
  const std::vector<int>& sockets() const { return sockets_; }
  // The caller closes them.
  std::vector<int> Release();

 private:
  ListeningSockets() = default;
  absl::Status OpenPath(const std::string& path);
  absl::Status OpenPort(const std::string& host, int port);
  // One port at all addresses of a host. False: another process has it at one
  // of them, and the next free port may do.
  absl::StatusOr<bool> TryPort(const addrinfo* addresses, int port);
  bool IsOurs(const sockaddr* at, socklen_t size) const;

  std::string address_;
  std::string path_;  // empty: none was made
  std::vector<int> sockets_;
};

// Why the host of `address` was not found; `failure` is of getaddrinfo.
absl::Status ExplainLookup(const std::string& address, int failure);

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_RPC_LISTENING_SOCKETS_H_
