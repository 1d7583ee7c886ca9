// GangInbox: what a coordinator says to the runner of a member of a gang.
//
// Concept: a message is delivered whenever it comes, and written to the runner
// in order once that is there. A thread of its own writes, so that a runner
// that does not read keeps nobody waiting. Threads: all methods from any
// thread. Open once; Close before the file that it was given goes, and when the
// runner is dead: it waits for the last write. Errors: none. A runner that is
// gone is told nothing.
#ifndef MESHWRIGHT_WORKER_SANDBOX_GANG_INBOX_H_
#define MESHWRIGHT_WORKER_SANDBOX_GANG_INBOX_H_

#include <deque>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "proto/v1/job.pb.h"

namespace meshwright::worker::sandbox {

class GangInbox {
 public:
  GangInbox() = default;
  ~GangInbox() { Close(); }
  GangInbox(const GangInbox&) = delete;
  GangInbox& operator=(const GangInbox&) = delete;

  void Deliver(const v1::GangMessage& message) ABSL_LOCKS_EXCLUDED(mutex_);
  // `socket`: the runner's other end reads.
  void Open(int socket) ABSL_LOCKS_EXCLUDED(mutex_);
  void Close() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Write(int socket) ABSL_LOCKS_EXCLUDED(mutex_);
  bool HasWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return is_closed_ || !waiting_.empty();
  }

  base::Mutex mutex_;
  std::deque<std::string> waiting_ ABSL_GUARDED_BY(mutex_);  // framed
  bool is_closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::jthread writer_;
};

}  // namespace meshwright::worker::sandbox

#endif  // MESHWRIGHT_WORKER_SANDBOX_GANG_INBOX_H_
