// OwnPort: whether the port of this process still takes connections.
//
// Concept: gRPC 1.51 leaves its loop of `accept` for ever where no file is
// left, and tells nobody. So the process knocks: it connects to itself, says
// nothing more, and awaits the first byte or the end of the connection. A port
// is deaf if it answered once and does not any more. One that never answered
// may be out of reach from here, as behind a firewall.
// Threads: Knock from any, Note from one at a time, is_deaf from any.
// Errors of Knock: kDeadlineExceeded where nobody takes the connection, those
// of errno where none can be opened.
#ifndef MESHWRIGHT_COORDINATOR_DAEMON_OWN_PORT_H_
#define MESHWRIGHT_COORDINATOR_DAEMON_OWN_PORT_H_

#include <sys/socket.h>

#include <atomic>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace meshwright::daemon {

class OwnPort {
 public:
  // `address`: HOST:PORT or unix:PATH, where this process listens. Its host is
  // looked up here and never again.
  explicit OwnPort(const std::string& address);

  // `patience` each for the connection and for the answer.
  absl::Status Knock(absl::Duration patience) const;
  // What a knock gave. Logs when the port becomes deaf.
  void Note(const absl::Status& knocked);
  bool is_deaf() const { return is_deaf_; }

 private:
  const std::string address_;
  sockaddr_storage at_ = {};  // empty: the host was not found
  socklen_t size_ = 0;
  bool has_answered_ = false;
  std::atomic<bool> is_deaf_ = false;
};

}  // namespace meshwright::daemon

#endif  // MESHWRIGHT_COORDINATOR_DAEMON_OWN_PORT_H_
