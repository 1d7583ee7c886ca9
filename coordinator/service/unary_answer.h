// UnaryAnswer: a unary call, and the bytes of its answer until they are taken.
//
// Concept: gRPC's threads never wait; work that may wait for the disk is done
// on `calls` and the call finished there. An answer whose client does not read
// waits in memory, as large as it is, which gRPC's own quota does not count. So
// its bytes hold a place of `answers`, of the caller's share, until gRPC is
// done with the call: they were taken, or the client left. There is no limit of
// time: nobody sees how much of one message was taken, and a slow link is no
// fault. They are templates, so that this header needs no gRPC.
// Ownership: a call owns itself until OnDone; the context outlives it, and the
// request and the response live until it is finished.
// Errors: the work's status is the call's; without a slot, why there is none;
// those of CheckAnswerBytes.
#ifndef MESHWRIGHT_COORDINATOR_SERVICE_UNARY_ANSWER_H_
#define MESHWRIGHT_COORDINATOR_SERVICE_UNARY_ANSWER_H_

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/rpc/rpc_status.h"
#include "base/status_macros.h"
#include "base/thread_pool.h"
#include "coordinator/service/call_slots.h"
#include "coordinator/service/caller_slots.h"
#include "coordinator/service/server_limits.h"

namespace meshwright::service {

template <typename Reactor>
class UnaryAnswer : public Reactor {
 public:
  // `Answer`: this class, or one that is derived from it.
  template <typename Answer>
  static std::shared_ptr<Answer> Make() {
    auto answer = std::make_shared<Answer>();
    answer->self_ = answer;
    return answer;
  }

  // Ends the call; once.
  template <typename Response>
  void End(const ServiceContext& service, const security::Call& call,
           absl::StatusOr<Response> made, Response* response) {
    absl::Status status = made.status();
    if (status.ok()) status = Hold(service, call, made->ByteSizeLong());
    if (status.ok()) *response = *std::move(made);
    base::FinishCall(this, status);
  }

  void OnDone() override { self_.reset(); }

 private:
  // Answers that say what was done are smaller: a refusal would deny the deed.
  // The calls of a connection together have 16 MiB of them.
  static constexpr size_t kSmallBytes = size_t{64} << 10;

  absl::Status Hold(const ServiceContext& service, const security::Call& call,
                    size_t bytes) {
    RETURN_IF_ERROR(CheckAnswerBytes(bytes));
    if (bytes <= kSmallBytes) return absl::OkStatus();
    ASSIGN_OR_RETURN(slot_, TakeSlot(service, call, service.answers,
                                     static_cast<int>(bytes)));
    return absl::OkStatus();
  }

  std::shared_ptr<UnaryAnswer> self_;
  CallSlots::Slot slot_;
};

// Of the reactor that unary calls with this context have.
template <typename Context>
auto MakeUnaryAnswer() {
  using Answer = UnaryAnswer<std::remove_pointer_t<
      decltype(std::declval<Context&>().DefaultReactor())>>;
  return Answer::template Make<Answer>();
}

// `work` returns a StatusOr of the response, here and below.
template <typename Context, typename Response, typename Work>
auto* AnswerUnary(const ServiceContext& service, const security::Call& call,
                  Context* /*context*/, Response* response, Work work) {
  const auto answer = MakeUnaryAnswer<Context>();
  service.calls->Post(
      [&service, call, answer, response, work = std::move(work)]() mutable {
        answer->End(service, call, absl::StatusOr<Response>(work()), response);
      });
  return answer.get();
}

// Of work that takes long, and holds a place of `computations` meanwhile.
template <typename Context, typename Response, typename Work>
auto* ComputeUnary(const ServiceContext& service, const security::Call& call,
                   Context* context, Response* response, Work work) {
  absl::StatusOr<CallSlots::Slot> slot =
      TakeSlot(service, call, service.computations);
  if (!slot.ok()) {
    const auto answer = MakeUnaryAnswer<Context>();
    base::FinishCall(answer.get(), slot.status());
    return answer.get();
  }
  return AnswerUnary(
      service, call, context, response,
      [slot = *std::move(slot), work = std::move(work)]() mutable {
        absl::StatusOr<Response> made = work();
        slot.reset();  // whoever sees the end may ask again
        return made;
      });
}

// Of work that waits for nothing, on gRPC's own thread.
template <typename Context, typename Response, typename Work>
auto* AnswerAtOnce(const ServiceContext& service, const security::Call& call,
                   Context* /*context*/, Response* response, const Work& work) {
  const auto answer = MakeUnaryAnswer<Context>();
  answer->End(service, call, absl::StatusOr<Response>(work()), response);
  return answer.get();
}

}  // namespace meshwright::service

#endif  // MESHWRIGHT_COORDINATOR_SERVICE_UNARY_ANSWER_H_
