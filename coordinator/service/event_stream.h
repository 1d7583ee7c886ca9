// EventStream: a call whose work takes a while and is answered with a stream of
// events.
//
// Concept: gRPC's threads never wait; the work is done on `calls`, and a client
// that goes away requests a stop of it. For a slow client the results wait in
// memory, and of what shows progress the newest (Outbox). It is a template over
// the reactor, so that this header needs no gRPC. Threads: Send and Finish from
// any. Ownership: it lives until both gRPC and the work are done; the slot as
// long as the work. Errors: the work's status is the call's; without a slot,
// why there is none.
#ifndef MESHWRIGHT_COORDINATOR_SERVICE_EVENT_STREAM_H_
#define MESHWRIGHT_COORDINATOR_SERVICE_EVENT_STREAM_H_

#include <memory>
#include <stop_token>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/rpc/rpc_status.h"
#include "base/thread_pool.h"
#include "coordinator/service/call_slots.h"
#include "coordinator/service/outbox.h"

namespace meshwright::service {

template <typename Reactor, typename Event, typename Status>
class EventStream : public Reactor {
 public:
  // `work(stream)` returns the status that the stream ends with.
  template <typename Work>
  static EventStream* Answer(base::ThreadPool* calls,
                             const absl::StatusOr<CallSlots::Slot>& slot,
                             Work work) {
    auto stream = std::make_shared<EventStream>();
    stream->self_ = stream;
    if (!slot.ok()) {
      stream->Finish(slot.status());
      return stream.get();
    }
    calls->Post([stream, slot = *slot, work = std::move(work)]() mutable {
      const absl::Status status = work(*stream);
      slot.reset();  // whoever sees the end may ask again
      stream->Finish(status);
    });
    return stream.get();
  }

  EventStream() : outbox_(this) {}

  // Queues an event; never waits. Nothing may be sent after Finish.
  void Send(Event event) { outbox_.Send(std::move(event)); }
  void SendProgress(Event event) { outbox_.SendProgress(std::move(event)); }
  void Finish(const absl::Status& status) {
    base::FinishCall(&outbox_, status);
  }
  std::stop_token stop() { return stop_.get_token(); }

  void OnWriteDone(bool ok) override {
    if (!ok) stop_.request_stop();
    outbox_.OnWriteDone(ok);
  }
  void OnCancel() override { stop_.request_stop(); }
  void OnDone() override { self_.reset(); }

 private:
  std::shared_ptr<EventStream> self_;
  std::stop_source stop_;
  Outbox<Reactor, Event, Status> outbox_;
};

}  // namespace meshwright::service

#endif  // MESHWRIGHT_COORDINATOR_SERVICE_EVENT_STREAM_H_
