// ServerCredentials: the transport of a coordinator's port, with its guard.
//
// Concept: the guard stands in gRPC's own authentication hook, before any
// handler. A new RPC is guarded without a line of its own, and needs only its
// row in coordinator/security/rpc_roles.h. The hook exists on secure transports
// alone. Plain unix sockets and loopback take gRPC's local credentials. These
// change no byte on the wire, so plain clients still speak to them.
//   Local credentials refuse peers that are not of this machine. Beyond it
// without TLS (--insecure) there is no guard, and no tokens either
// (coordinator/security/listening.h).
// A certificate that changed is taken up by new connections.
// Errors: those of CheckListening. Ownership: `guard` and `observer` outlive
// the server.
#ifndef MESHWRIGHT_COORDINATOR_SERVICE_SERVER_CREDENTIALS_H_
#define MESHWRIGHT_COORDINATOR_SERVICE_SERVER_CREDENTIALS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "coordinator/security/guard.h"
#include "coordinator/security/listening.h"
#include "coordinator/service/rpc_observer.h"

namespace grpc {
class CallbackServerContext;
class ServerContextBase;
class ServerCredentials;
}  // namespace grpc

namespace meshwright::service {

// `observer` hears what the guard refuses; null: nobody does.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeServerCredentials(
    const std::string& address, const security::Listening& listening,
    const security::Guard* guard, RpcObserver* observer);

// The call of a handler, for its questions to the guard.
security::Call DescribeCall(const grpc::ServerContextBase& context,
                            const std::string& path);

// Of the caller's trace (base/trace_context.h); empty: it sent none.
std::string FindTraceparent(const grpc::CallbackServerContext& context);

}  // namespace meshwright::service

#endif  // MESHWRIGHT_COORDINATOR_SERVICE_SERVER_CREDENTIALS_H_
