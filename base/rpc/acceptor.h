// Acceptor: takes the connections of gRPC's ports, as many as the process may
// hold.
//
// Concept: gRPC 1.51 leaves its own loop of `accept` for ever where no file is
// left, and takes one connection after the other until then. So this loop takes
// them and hands them on. One that would use up the last files of the process,
// which its store and its children need, is closed at once: its client reads
// that the connection was closed, and comes again.
//   Where the kernel gives no connection, the loop rests and goes on.
// Threads: one of its own, from Start to destruction. Errors of Start:
// kResourceExhausted where not even a file is left for it.
#ifndef MESHWRIGHT_BASE_RPC_ACCEPTOR_H_
#define MESHWRIGHT_BASE_RPC_ACCEPTOR_H_

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/rpc/listening_sockets.h"

namespace grpc {
class ServerBuilder;
class ServerCredentials;
namespace experimental {
class ExternalConnectionAcceptor;
}
}  // namespace grpc

namespace meshwright::base {

class Acceptor {
 public:
  // Of one address, and of the server that has its connections.
  class Door {
   public:
    // Before the server is built.
    Door(ListeningSockets sockets,
         const std::shared_ptr<grpc::ServerCredentials>& credentials,
         grpc::ServerBuilder* builder);
    ~Door();
    Door(Door&&) noexcept;

   private:
    friend class Acceptor;
    ListeningSockets sockets_;
    std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> server_;
  };

  // The servers are started. What a peer leaves unconfirmed for `patience` is
  // given up with its connection.
  static absl::StatusOr<std::unique_ptr<Acceptor>> Start(
      std::vector<Door> doors, absl::Duration patience);
  // Takes no more; those that it took go on.
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

 private:
  Acceptor(std::vector<Door> doors, absl::Duration patience, int stop);
  void Run();
  // Until none waits, or the kernel gives none.
  void Take(const Door& door, int socket);
  // Says why connections are not taken, now and then.
  void Note(const std::string& reason);

  const std::vector<Door> doors_;
  const int patience_;  // milliseconds
  const int stop_;      // readable when it is to end
  const SteadyClock clock_;
  bool rests_ = false;
  absl::Time noted_ = absl::InfinitePast();
  std::jthread thread_;  // last: joined before the rest is destroyed
};

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_RPC_ACCEPTOR_H_
