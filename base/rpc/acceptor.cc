#include "base/rpc/acceptor.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "base/log/log.h"
#include "base/rpc/channel.h"

namespace meshwright::base {
namespace {

using ServerConnections = grpc::experimental::ExternalConnectionAcceptor;

constexpr int kRestMilliseconds = 100;
constexpr absl::Duration kBetweenNotes = absl::Minutes(1);
constexpr char kNoFiles[] =
    "it may have no more files open; raise its limit (LimitNOFILE, ulimit -n), "
    "or find who holds them with \"ss -tp\"";

// Files are numbered from the lowest free one: the number of a new one says how
// many are open at least.
bool IsOneOfTheLast(int file) {
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t kept = std::min<rlim_t>(limit.rlim_cur / 8, 256);
  return static_cast<rlim_t>(file) >= limit.rlim_cur - kept;
}

// Both fail on a path, where nothing is put together or sent again.
void SetOptions(int connection, int patience) {
  const int on = 1;
  setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  setsockopt(connection, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience,
             sizeof(patience));
}

}  // namespace

Acceptor::Door::Door(
    ListeningSockets sockets,
    const std::shared_ptr<grpc::ServerCredentials>& credentials,
    grpc::ServerBuilder* builder)
    : sockets_(std::move(sockets)),
      server_(builder->experimental().AddExternalConnectionAcceptor(
          grpc::ServerBuilder::experimental_type::ExternalConnectionType::
              FROM_FD,
          credentials)) {}

Acceptor::Door::~Door() = default;

Acceptor::Door::Door(Door&&) noexcept = default;

absl::StatusOr<std::unique_ptr<Acceptor>> Acceptor::Start(
    std::vector<Door> doors, absl::Duration patience) {
  const int stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (stop < 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the process listens nowhere: ", kNoFiles));
  }
  return absl::WrapUnique(new Acceptor(std::move(doors), patience, stop));
}

Acceptor::Acceptor(std::vector<Door> doors, absl::Duration patience, int stop)
    : doors_(std::move(doors)),
      patience_(WholeMilliseconds(patience)),
      stop_(stop),
      thread_([this] { Run(); }) {}

Acceptor::~Acceptor() {
  const uint64_t one = 1;
  if (write(stop_, &one, sizeof(one)) != sizeof(one)) {
    LogWarning("connections: the port cannot be closed");
  }
  thread_.join();
  close(stop_);
}

void Acceptor::Run() {
  std::vector<pollfd> waits = {{.fd = stop_, .events = POLLIN, .revents = 0}};
  std::vector<const Door*> of = {nullptr};
  for (const Door& door : doors_) {
    for (const int socket : door.sockets_.sockets()) {
      waits.push_back({.fd = socket, .events = POLLIN, .revents = 0});
      of.push_back(&door);
    }
  }
  while (true) {
    const bool rested = std::exchange(rests_, false);
    const int ready = poll(waits.data(), rested ? 1 : waits.size(),
                           rested ? kRestMilliseconds : -1);
    if (ready < 0) {
      rests_ = errno != EINTR;
      continue;
    }
    if (waits.front().revents != 0) return;
    if (rested) continue;
    for (size_t i = 1; i < waits.size() && !rests_; ++i) {
      if (waits[i].revents != 0) Take(*of[i], waits[i].fd);
    }
  }
}

void Acceptor::Take(const Door& door, int socket) {
  // No more at once than wait at most, so that each door has its turn.
  for (int i = 0; i < SOMAXCONN; ++i) {
    const int taken =
        accept4(socket, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (taken < 0) {
      const int error = errno;
      if (error == EAGAIN || error == EINTR || error == ECONNABORTED) return;
      rests_ = true;
      const bool no_files = error == EMFILE || error == ENFILE;
      return Note(no_files ? kNoFiles : std::strerror(error));
    }
    if (IsOneOfTheLast(taken)) {
      close(taken);
      Note(kNoFiles);
      continue;
    }
    SetOptions(taken, patience_);
    ServerConnections::NewConnectionParameters connection;
    connection.listener_fd = socket;
    connection.fd = taken;
    door.server_->HandleNewConnection(&connection);
  }
}

void Acceptor::Note(const std::string& reason) {
  const absl::Time now = clock_.Now();
  if (now - noted_ < kBetweenNotes) return;
  noted_ = now;
  LogWarning("connections are refused at ", doors_.front().sockets_.address(),
             ": ", reason);
}

}  // namespace meshwright::base
