// Outbox: the sending side of a gRPC callback stream.
//
// Concept: a stream takes one write at a time; the outbox keeps the rest in
// order, and finishes the stream after the last of them. Of messages that only
// say how far the work is, the newest waits: behind a client that does not read
// there is at most one after each result. It is a template over the reactor and
// the status, so that this header needs no gRPC.
// Threads: all methods from any thread. None blocks, and none calls back.
// Ownership: the reactor owns its outbox and lives until its OnDone.
#ifndef MESHWRIGHT_COORDINATOR_SERVICE_OUTBOX_H_
#define MESHWRIGHT_COORDINATOR_SERVICE_OUTBOX_H_

#include <deque>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"

namespace meshwright::service {

template <typename Reactor, typename Message, typename Status>
class Outbox {
 public:
  explicit Outbox(Reactor* reactor) : reactor_(reactor) {}

  // Dropped when the stream is broken or finishing.
  void Send(Message message) {
    base::MutexLock lock(&mutex_);
    ends_in_progress_ = false;
    Queue(std::move(message));
  }

  // As Send; it takes the place of the last message if that one was progress
  // too, and is not being written.
  void SendProgress(Message message) {
    base::MutexLock lock(&mutex_);
    if (ends_in_progress_ && waiting_.size() > 1 && !finish_.has_value()) {
      waiting_.back() = std::move(message);
      return;
    }
    ends_in_progress_ = true;
    Queue(std::move(message));
  }

  // Whether all was written.
  bool IsIdle() {
    base::MutexLock lock(&mutex_);
    return waiting_.empty();
  }

  // Only the first call counts.
  void Finish(Status status) {
    base::MutexLock lock(&mutex_);
    if (finish_.has_value()) return;
    finish_ = std::move(status);
    if (waiting_.empty()) reactor_->Finish(*finish_);
  }

  // The reactor's OnWriteDone.
  void OnWriteDone(bool ok) {
    base::MutexLock lock(&mutex_);
    waiting_.pop_front();
    if (!ok) {
      broken_ = true;
      waiting_.clear();
    }
    if (!waiting_.empty()) {
      reactor_->StartWrite(&waiting_.front());
    } else if (finish_.has_value()) {
      reactor_->Finish(*finish_);
    }
  }

 private:
  void Queue(Message message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (broken_ || finish_.has_value()) return;
    waiting_.push_back(std::move(message));
    if (waiting_.size() == 1) reactor_->StartWrite(&waiting_.front());
  }

  Reactor* const reactor_;
  base::Mutex mutex_;
  // The front one is being written.
  std::deque<Message> waiting_ ABSL_GUARDED_BY(mutex_);
  bool ends_in_progress_ ABSL_GUARDED_BY(mutex_) = false;
  bool broken_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<Status> finish_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace meshwright::service

#endif  // MESHWRIGHT_COORDINATOR_SERVICE_OUTBOX_H_
