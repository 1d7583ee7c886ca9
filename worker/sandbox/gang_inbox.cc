#include "worker/sandbox/gang_inbox.h"

#include <sys/socket.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include "worker/sandbox/event_stream.h"

namespace meshwright::worker::sandbox {
namespace {

// False: the other end is gone.
bool SendAll(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(sent);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace

void GangInbox::Deliver(const v1::GangMessage& message) {
  std::string framed = Frame(message);
  base::MutexLock lock(&mutex_);
  if (!is_closed_) waiting_.push_back(std::move(framed));
}

void GangInbox::Open(int socket) {
  writer_ = std::jthread([this, socket] { Write(socket); });
}

void GangInbox::Close() {
  {
    base::MutexLock lock(&mutex_);
    is_closed_ = true;
    waiting_.clear();
  }
  if (writer_.joinable()) writer_.join();
}

void GangInbox::Write(int socket) {
  while (true) {
    std::string next;
    {
      base::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(this, &GangInbox::HasWork));
      if (is_closed_) return;
      next = std::move(waiting_.front());
      waiting_.pop_front();
    }
    if (!SendAll(socket, next)) return;
  }
}

}  // namespace meshwright::worker::sandbox
