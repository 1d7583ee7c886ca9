// AnswerUnary: a unary call whose work may wait for the disk.
//
// Concept: gRPC's threads never wait; the work is done on `calls` and the call
// finished there. It is a template, so that this header needs no gRPC.
// Ownership: the request and the response live until the call is finished.
// Errors: the work's status is the call's; without a slot, why there is none;
// those of CheckAnswerBytes.
#ifndef MESHWRIGHT_COORDINATOR_SERVICE_UNARY_ANSWER_H_
#define MESHWRIGHT_COORDINATOR_SERVICE_UNARY_ANSWER_H_

#include <utility>

#include "absl/status/statusor.h"
#include "base/rpc/rpc_status.h"
#include "base/thread_pool.h"
#include "coordinator/service/call_slots.h"
#include "coordinator/service/server_limits.h"

namespace meshwright::service {

// `work` returns a StatusOr of the response.
template <typename Context, typename Response, typename Work>
auto* AnswerUnary(base::ThreadPool* calls, Context* context, Response* response,
                  Work work) {
  auto* const reactor = context->DefaultReactor();
  calls->Post([reactor, response, work = std::move(work)]() mutable {
    absl::StatusOr<Response> made = work();
    if (!made.ok()) {
      base::FinishCall(reactor, made.status());
      return;
    }
    const absl::Status fits = CheckAnswerBytes(made->ByteSizeLong());
    if (fits.ok()) *response = *std::move(made);
    base::FinishCall(reactor, fits);
  });
  return reactor;
}

// Of work that takes long, and holds the slot meanwhile.
template <typename Context, typename Response, typename Work>
auto* AnswerUnary(base::ThreadPool* calls,
                  const absl::StatusOr<CallSlots::Slot>& slot, Context* context,
                  Response* response, Work work) {
  if (!slot.ok()) {
    auto* const reactor = context->DefaultReactor();
    base::FinishCall(reactor, slot.status());
    return reactor;
  }
  return AnswerUnary(calls, context, response,
                     [slot = *slot, work = std::move(work)]() mutable {
                       absl::StatusOr<Response> made = work();
                       slot.reset();  // whoever sees the end may ask again
                       return made;
                     });
}

}  // namespace meshwright::service

#endif  // MESHWRIGHT_COORDINATOR_SERVICE_UNARY_ANSWER_H_
