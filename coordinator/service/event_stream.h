// EventStream: a call whose work takes a while and is answered with a stream of
// events.
//
// Concept: gRPC's threads never wait; the work is done on `calls`, and a client
// that goes away requests a stop of it. For a slow client the results wait in
// memory, and of what shows progress the newest (Outbox). Whether the caller
// may still have the work done is asked before it begins, and once in
// kBetweenLooks until it ends, also while it waits and sends nothing; where
// not, the work is stopped. A client that takes no event for a while has its
// call cancelled (WriteLimit). It is a template over the reactor, so that this
// header needs no gRPC. Threads: Send from any, until the work ends. Ownership:
// it lives until both gRPC and the work are done; the slot until the last event
// is taken; the limits hold it weakly. Errors: the work's status is the call's;
// without a slot, why there is none; that of `may_go_on`, once it gave one.
#ifndef MESHWRIGHT_COORDINATOR_SERVICE_EVENT_STREAM_H_
#define MESHWRIGHT_COORDINATOR_SERVICE_EVENT_STREAM_H_

#include <functional>
#include <memory>
#include <stop_token>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/mutex.h"
#include "base/rpc/idle_limit.h"
#include "base/rpc/rpc_status.h"
#include "base/thread_pool.h"
#include "coordinator/service/call_slots.h"
#include "coordinator/service/outbox.h"

namespace meshwright::service {

template <typename Reactor, typename Event, typename Status>
class EventStream
    : public Reactor,
      public std::enable_shared_from_this<EventStream<Reactor, Event, Status>> {
 public:
  static constexpr absl::Duration kBetweenLooks = absl::Seconds(5);

  struct Terms {
    base::ThreadPool* calls;  // outlives it
    // Called from any thread, one at a time, and not after the work.
    std::function<absl::Status()> may_go_on;
    absl::Duration patience;  // until an event is taken
    // Cancels the call; called once at most, before it is finished.
    std::function<void()> cancel;
    absl::Duration between_looks = kBetweenLooks;
  };

  // `work(stream)` returns the status that the stream ends with.
  template <typename Work>
  static EventStream* Answer(Terms terms,
                             const absl::StatusOr<CallSlots::Slot>& slot,
                             Work work) {
    base::ThreadPool* const calls = terms.calls;
    auto stream = std::make_shared<EventStream>(std::move(terms));
    stream->self_ = stream;
    if (!slot.ok()) {
      stream->EndWork(slot.status());
      return stream.get();
    }
    stream->slot_ = *slot;
    stream->LimitWrites();
    stream->LookLater();
    calls->Post([stream, work = std::move(work)]() mutable {
      stream->EndWork(stream->Look() ? work(*stream) : absl::OkStatus());
    });
    return stream.get();
  }

  explicit EventStream(Terms terms) : terms_(std::move(terms)), outbox_(this) {}

  // Queues an event; never waits for the client. Dropped once the caller may
  // not have it.
  void Send(Event event) {
    if (allowed().ok()) outbox_.Send(std::move(event));
  }
  void SendProgress(Event event) {
    if (allowed().ok()) outbox_.SendProgress(std::move(event));
  }
  std::stop_token stop() { return stop_.get_token(); }

  void OnWriteDone(bool ok) override {
    if (limit_->Note()) NoteWritten(ok);
  }
  void OnCancel() override { stop_.request_stop(); }
  void OnDone() override { self_.reset(); }

 private:
  friend class Outbox<EventStream, Event, Status>;

  // Of the outbox: an event, and the end when all were taken.
  void StartWrite(const Event* event) {
    limit_->Await();
    Reactor::StartWrite(event);
  }
  void Finish(const Status& status) {
    slot_.reset();  // whoever sees the end may ask again
    Reactor::Finish(status);
  }

  void LimitWrites() {
    limit_ = std::make_unique<base::WriteLimit>(
        terms_.patience, self_, terms_.cancel, [this] { NoteWritten(false); });
  }

  void NoteWritten(bool ok) {
    if (!ok) stop_.request_stop();
    outbox_.OnWriteDone(ok);
  }

  // Asks again, and so on until the work ends. Nobody notes anything of the
  // limit, so that it is up after twice its patience.
  void LookLater() {
    const auto look = [this] {
      if (Look()) LookLater();
    };
    look_ = std::make_unique<base::IdleLimit>(terms_.between_looks / 2,
                                              this->weak_from_this(), look);
    look_->Await();
  }

  // Whether the work may begin or go on.
  bool Look() {
    {
      base::MutexLock lock(&mutex_);
      if (is_finished_) return false;
      if (allowed_.ok()) allowed_ = terms_.may_go_on();
      if (allowed_.ok()) return true;
    }
    stop_.request_stop();  // calls whoever waits for it
    return false;
  }

  absl::Status allowed() {
    base::MutexLock lock(&mutex_);
    return allowed_;
  }

  void EndWork(const absl::Status& status) {
    absl::Status end;
    {
      base::MutexLock lock(&mutex_);
      is_finished_ = true;
      end = allowed_.ok() ? status : allowed_;
    }
    base::FinishCall(&outbox_, end);
  }

  const Terms terms_;
  CallSlots::Slot slot_;
  base::Mutex mutex_;
  bool is_finished_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status allowed_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<EventStream> self_;
  std::unique_ptr<base::IdleLimit> look_;
  std::unique_ptr<base::WriteLimit> limit_;
  std::stop_source stop_;
  Outbox<EventStream, Event, Status> outbox_;
};

}  // namespace meshwright::service

#endif  // MESHWRIGHT_COORDINATOR_SERVICE_EVENT_STREAM_H_
