// EventStream: a call whose work takes a while and is answered with a stream of
// events.
//
// Concept: gRPC's threads never wait; the work is done on `calls`, and a client
// that goes away requests a stop of it. For a slow client the results wait in
// memory, and of what shows progress the newest (Outbox). Whether the caller
// may still have the work done is asked with an event, once in kBetweenLooks at
// most; where not, the work is stopped. It is a template over the reactor, so
// that this header needs no gRPC. Threads: Send from any, until the work ends.
// Ownership: it lives until both gRPC and the work are done; the slot as
// long as the work. Errors: the work's status is the call's; without a slot,
// why there is none; that of `may_go_on`, once it gave one.
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
#include "base/clock.h"
#include "base/mutex.h"
#include "base/rpc/rpc_status.h"
#include "base/thread_pool.h"
#include "coordinator/service/call_slots.h"
#include "coordinator/service/outbox.h"

namespace meshwright::service {

template <typename Reactor, typename Event, typename Status>
class EventStream : public Reactor {
 public:
  // There may be hundreds of events a second.
  static constexpr absl::Duration kBetweenLooks = absl::Seconds(10);

  // `work(stream)` returns the status that the stream ends with. `may_go_on` is
  // called by whoever sends, one at a time.
  template <typename Work>
  static EventStream* Answer(base::ThreadPool* calls,
                             const absl::StatusOr<CallSlots::Slot>& slot,
                             std::function<absl::Status()> may_go_on,
                             Work work) {
    auto stream = std::make_shared<EventStream>(std::move(may_go_on));
    stream->self_ = stream;
    if (!slot.ok()) {
      stream->Finish(slot.status());
      return stream.get();
    }
    calls->Post([stream, slot = *slot, work = std::move(work)]() mutable {
      const absl::Status status = work(*stream);
      slot.reset();  // whoever sees the end may ask again
      const absl::Status allowed = stream->allowed();
      stream->Finish(allowed.ok() ? status : allowed);
    });
    return stream.get();
  }

  explicit EventStream(std::function<absl::Status()> may_go_on)
      : may_go_on_(std::move(may_go_on)), outbox_(this) {}

  // Queues an event; never waits for the client. Dropped once the caller may
  // not have it.
  void Send(Event event) {
    if (MayGoOn()) outbox_.Send(std::move(event));
  }
  void SendProgress(Event event) {
    if (MayGoOn()) outbox_.SendProgress(std::move(event));
  }
  std::stop_token stop() { return stop_.get_token(); }

  void OnWriteDone(bool ok) override {
    if (!ok) stop_.request_stop();
    outbox_.OnWriteDone(ok);
  }
  void OnCancel() override { stop_.request_stop(); }
  void OnDone() override { self_.reset(); }

 private:
  bool MayGoOn() {
    {
      base::MutexLock lock(&mutex_);
      const absl::Time now = clock_.Now();
      if (!allowed_.ok() || now - looked_ < kBetweenLooks) return allowed_.ok();
      looked_ = now;
      allowed_ = may_go_on_();
      if (allowed_.ok()) return true;
    }
    stop_.request_stop();  // calls whoever waits for it
    return false;
  }

  absl::Status allowed() {
    base::MutexLock lock(&mutex_);
    return allowed_;
  }

  void Finish(const absl::Status& status) {
    base::FinishCall(&outbox_, status);
  }

  const base::SteadyClock clock_;
  const std::function<absl::Status()> may_go_on_;
  base::Mutex mutex_;
  absl::Time looked_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  absl::Status allowed_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<EventStream> self_;
  std::stop_source stop_;
  Outbox<Reactor, Event, Status> outbox_;
};

}  // namespace meshwright::service

#endif  // MESHWRIGHT_COORDINATOR_SERVICE_EVENT_STREAM_H_
