// Whether a daemon may listen at the address that it was given.
//
// Concept: gRPC says only that a port could not be bound; this asks the kernel
// first, so that the person reads why.
// Errors: kAlreadyExists for what may pass: a busy port, a socket that answers,
// an address that this machine does not have. kUnavailable where the name
// service does not answer. kInvalidArgument (no HOST:PORT, or a host that is
// none), kPermissionDenied. Each is one sentence.
#ifndef MESHWRIGHT_COORDINATOR_SERVICE_LISTEN_ADDRESS_H_
#define MESHWRIGHT_COORDINATOR_SERVICE_LISTEN_ADDRESS_H_

#include <string>

#include "absl/status/status.h"

namespace meshwright::service {

// `address` is HOST:PORT, [IPV6]:PORT or unix:PATH; port 0 takes a free one.
absl::Status CheckListenAddress(const std::string& address);

// By which others reach who listens at `address`, a HOST:PORT: the name of this
// machine in place of every address (0.0.0.0, [::]), at which each reaches
// itself.
std::string NameForOthers(const std::string& address);

// Why the host of `address` was not found; `failure` is of getaddrinfo.
absl::Status ExplainLookup(const std::string& address, int failure);

}  // namespace meshwright::service

#endif  // MESHWRIGHT_COORDINATOR_SERVICE_LISTEN_ADDRESS_H_
