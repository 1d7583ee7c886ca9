#include "coordinator/service/resharding_call.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <memory>
#include <stop_token>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log/log.h"
#include "base/rpc/rpc_status.h"
#include "base/status_macros.h"
#include "coordinator/resharding/answer_message.h"
#include "coordinator/resharding/request.h"
#include "coordinator/service/caller_slots.h"
#include "coordinator/service/unary_answer.h"

namespace meshwright::service {
namespace {

using Seconds = std::chrono::duration<double>;
using Clock = std::chrono::steady_clock;

// For the way back, of the time that a call has left; and gRPC tells the
// server of deadlines up to a hundredth later than the client's, which it
// rounds.
constexpr Seconds kWayBack{0.25};
constexpr double kRounding = 0.01;
// A search holds one of few places; a longer one is the caller's own.
constexpr Seconds kLongestSearch{600};

class ReshardingReactor : public UnaryAnswer<grpc::ServerUnaryReactor> {
 public:
  void OnCancel() override { stop_.request_stop(); }
  std::stop_token stop() { return stop_.get_token(); }

 private:
  std::stop_source stop_;
};

std::optional<Seconds> TimeLeft(const grpc::CallbackServerContext& context) {
  const auto deadline = context.deadline();
  if (deadline == std::chrono::system_clock::time_point::max()) {
    return std::nullopt;
  }
  return deadline - std::chrono::system_clock::now();
}

absl::StatusOr<v1::ReshardingAnswer> Answer(
    resharding::AnswerCache& cache, const v1::ReshardingRequest& message,
    const reshard::Options& options) {
  ASSIGN_OR_RETURN(const resharding::Request request,
                   resharding::ReadRequest(message));
  ASSIGN_OR_RETURN(const resharding::AnswerCache::Served served,
                   cache.Solve(request.problem, options));
  v1::ReshardingAnswer answer =
      resharding::AnswerToMessage(request, served.answer);
  answer.set_cached(served.cached);
  return answer;
}

}  // namespace

absl::StatusOr<reshard::Options> ReadReshardingOptions(
    const v1::ReshardingRequest& request, std::optional<Seconds> left) {
  reshard::Options options;
  if (!request.solver().empty()) {
    ASSIGN_OR_RETURN(options.solver, reshard::ParseSolver(request.solver()));
  }
  if (request.has_seed()) options.seed = request.seed();
  std::optional<Seconds> budget;
  if (request.has_deadline_seconds()) {
    budget = Seconds(request.deadline_seconds());
    if (!(*budget >= Seconds::zero() && *budget <= kLongestSearch)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "deadline_seconds is ", budget->count(),
          "; give seconds, at least 0 "
          "and at most ",
          kLongestSearch.count(), ", or search without a coordinator"));
    }
  }
  if (left.has_value()) {
    const Seconds search =
        std::min(*left - std::min(kWayBack + kRounding * *left, *left / 4),
                 kLongestSearch);
    budget = std::min(budget.value_or(search), search);
  }
  if (budget.has_value()) {
    options.deadline.at =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(*budget);
  }
  return options;
}

grpc::ServerUnaryReactor* StartResharding(const ServiceContext& service,
                                          const security::Call& call,
                                          grpc::CallbackServerContext* context,
                                          const v1::ReshardingRequest* request,
                                          v1::ReshardingAnswer* answer) {
  const auto reactor = ReshardingReactor::Make<ReshardingReactor>();
  auto options = ReadReshardingOptions(*request, TimeLeft(*context));
  if (options.ok() && *service.draining) {
    options = absl::UnavailableError(
        "the coordinator drains and takes no reshardings");
  }
  absl::StatusOr<CallSlots::Slot> slot =
      options.ok() ? TakeSlot(service, call, service.computations)
                   : options.status();
  if (!slot.ok()) {
    reactor->Finish(base::ToRpc(slot.status()));
    return reactor.get();
  }
  options->deadline.stop = reactor->stop();
  // Both messages live until Finish.
  service.calls->Post([=, &service, cache = service.reshardings,
                       options = *std::move(options),
                       slot = *std::move(slot)]() mutable {
    auto made = Answer(*cache, *request, options);
    if (!made.ok()) {
      base::LogInfo("resharding: ", made.status().ToString());
    }
    slot.reset();  // whoever sees the end may ask again
    reactor->End(service, call, std::move(made), answer);
  });
  return reactor.get();
}

}  // namespace meshwright::service
