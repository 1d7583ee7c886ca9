#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/status_macros.h"
#include "coordinator/service/plan_watch.h"
#include "coordinator/service/services.h"
#include "coordinator/service/unary_answer.h"
#include "profiledb/store/plan_updates.h"
#include "proto/v1/plans.grpc.pb.h"

namespace meshwright::service {
namespace {

constexpr int kDefaultPage = 100;
constexpr int kMaxPage = 1000;

absl::StatusOr<v1::ListPlansResponse> ListPlans(
    store::PlanStore& plans, const v1::ListPlansRequest& request) {
  store::PlanFilter filter;
  for (const int state : request.states()) {
    filter.states.push_back(static_cast<v1::PlanState>(state));
  }
  filter.team = request.namespace_();
  filter.owner = request.owner();
  filter.limit = request.page_size() <= 0
                     ? kDefaultPage
                     : std::min(request.page_size(), kMaxPage);
  if (!request.page_token().empty()) {
    ASSIGN_OR_RETURN(filter.before, store::ParsePlanId(request.page_token()));
  }
  ASSIGN_OR_RETURN(std::vector<v1::PlanRecord> page, plans.List(filter));
  v1::ListPlansResponse response;
  if (static_cast<int>(page.size()) == filter.limit && !page.empty()) {
    response.set_next_page_token(page.back().id());
  }
  for (v1::PlanRecord& record : page) {
    *response.add_plans() = std::move(record);
  }
  return response;
}

class PlansService : public v1::Plans::CallbackService {
 public:
  PlansService(plans::PlanRunner* runner, base::ThreadPool* calls)
      : runner_(runner), calls_(calls) {}

  grpc::ServerUnaryReactor* Submit(grpc::CallbackServerContext* context,
                                   const v1::SubmitPlanRequest* request,
                                   v1::PlanRecord* record) override {
    return AnswerUnary(calls_, context, record,
                       [this, request, caller = std::string(context->peer())] {
                         if (!request->owner().empty())
                           return runner_->Submit(*request);
                         v1::SubmitPlanRequest named = *request;
                         named.set_owner(caller);
                         return runner_->Submit(named);
                       });
  }

  grpc::ServerUnaryReactor* Get(grpc::CallbackServerContext* context,
                                const v1::GetPlanRequest* request,
                                v1::PlanRecord* record) override {
    return AnswerUnary(calls_, context, record,
                       [this, request]() -> absl::StatusOr<v1::PlanRecord> {
                         ASSIGN_OR_RETURN(const store::PlanId id,
                                          store::ParsePlanId(request->id()));
                         return runner_->plans().Get(id);
                       });
  }

  grpc::ServerUnaryReactor* List(grpc::CallbackServerContext* context,
                                 const v1::ListPlansRequest* request,
                                 v1::ListPlansResponse* response) override {
    return AnswerUnary(calls_, context, response, [this, request] {
      return ListPlans(runner_->plans(), *request);
    });
  }

  grpc::ServerUnaryReactor* Cancel(grpc::CallbackServerContext* context,
                                   const v1::CancelPlanRequest* request,
                                   v1::PlanRecord* record) override {
    return AnswerUnary(calls_, context, record,
                       [this, request, caller = std::string(context->peer())]()
                           -> absl::StatusOr<v1::PlanRecord> {
                         ASSIGN_OR_RETURN(const store::PlanId id,
                                          store::ParsePlanId(request->id()));
                         return runner_->Cancel(id, "cancelled by " + caller);
                       });
  }

  grpc::ServerWriteReactor<v1::PlanUpdate>* Watch(
      grpc::CallbackServerContext* /*context*/,
      const v1::WatchPlanRequest* request) override {
    using Watched = PlanWatch<grpc::ServerWriteReactor<v1::PlanUpdate>,
                              v1::PlanUpdate, grpc::Status>;
    const auto watch =
        Watched::Make(runner_, calls_, [](v1::PlanUpdate&& update) {
          Watched::Translated translated;
          if (store::HasEnded(update.state())) {
            translated.end = absl::OkStatus();
          }
          translated.events.push_back(std::move(update));
          return translated;
        });
    const auto id = store::ParsePlanId(request->id());
    if (id.ok()) {
      watch->Begin(*id, request->after());
    } else {
      watch->Refuse(id.status());
    }
    return watch.get();
  }

 private:
  plans::PlanRunner* const runner_;
  base::ThreadPool* const calls_;
};

}  // namespace

std::unique_ptr<grpc::Service> NewPlansService(plans::PlanRunner* runner,
                                               base::ThreadPool* calls) {
  return std::make_unique<PlansService>(runner, calls);
}

}  // namespace meshwright::service
