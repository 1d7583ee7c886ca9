// RpcObserver: hears of every call of a coordinator's port, to count it.
//
// Concept: a call is seen from its arrival to its end. One that the guard
// refuses does not arrive; the credentials tell of it
// (server_credentials.h), and the audit log says whose it was.
//   InterceptRpcs puts the observer into a server that is about to be built. A
// function beside it hears of the calls that are admitted: here the caller's
// address is known, and a port without tokens is as others.
// Threads: called on gRPC's threads, so the observer returns at once.
// Ownership: the observer outlives the server. Errors: none.
#ifndef MESHWRIGHT_COORDINATOR_SERVICE_RPC_OBSERVER_H_
#define MESHWRIGHT_COORDINATOR_SERVICE_RPC_OBSERVER_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace grpc {
class ServerBuilder;
class ServerContextBase;
}  // namespace grpc

namespace meshwright::service {

struct Rpc {
  std::string method;  // "meshwright.v1.Plans/Get"
  bool is_stream = false;
};

class RpcObserver {
 public:
  virtual ~RpcObserver() = default;
  // Called before the handler.
  virtual void BeginRpc(const Rpc& rpc) = 0;
  // kCancelled also where the client left before an answer.
  virtual void EndRpc(const Rpc& rpc, absl::StatusCode code,
                      absl::Duration took) = 0;
  // By the guard.
  virtual void RefuseRpc(absl::StatusCode code) = 0;
};

// Called with a call that was admitted, before its handler, and its path.
using AdmittedFunction =
    std::function<void(const grpc::ServerContextBase&, const std::string&)>;

// `observer` null, `admitted` empty: there is none.
void InterceptRpcs(RpcObserver* observer, AdmittedFunction admitted,
                   grpc::ServerBuilder* builder);

}  // namespace meshwright::service

#endif  // MESHWRIGHT_COORDINATOR_SERVICE_RPC_OBSERVER_H_
