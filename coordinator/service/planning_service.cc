#include <grpcpp/grpcpp.h>

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/log/log_context.h"
#include "base/status_macros.h"
#include "coordinator/audit/audited_change.h"
#include "coordinator/jobs/device_record.h"
#include "coordinator/jobs/progress.h"
#include "coordinator/jobs/queue_measurer.h"
#include "coordinator/plans/plan_events.h"
#include "coordinator/plans/worker_rows.h"
#include "coordinator/security/xla_flags.h"
#include "coordinator/service/caller_slots.h"
#include "coordinator/service/event_stream.h"
#include "coordinator/service/job_access.h"
#include "coordinator/service/plan_access.h"
#include "coordinator/service/plan_watch.h"
#include "coordinator/service/resharding_call.h"
#include "coordinator/service/server_credentials.h"
#include "coordinator/service/services.h"
#include "coordinator/service/unary_answer.h"
#include "profiledb/store/plan_updates.h"
#include "profiledb/store/row_time.h"
#include "proto/v1/services.grpc.pb.h"

namespace meshwright::service {
namespace {

using CompareStream = EventStream<grpc::ServerWriteReactor<v1::CompareEvent>,
                                  v1::CompareEvent, grpc::Status>;

class PlanningService : public v1::Planning::CallbackService {
 public:
  PlanningService(const ServiceContext& context, const ServerLimits& limits)
      : context_(context), patience_(limits.stream_idle) {}

  // Submits the plan and watches it.
  grpc::ServerWriteReactor<v1::PlanEvent>* MakePlan(
      grpc::CallbackServerContext* context,
      const v1::PlanRequest* request) override {
    const security::Call call =
        DescribeCall(*context, "/meshwright.v1.Planning/MakePlan");
    // The translation lives as long as its watch, and the slot with it.
    const absl::StatusOr<CallSlots::Slot> slot = TakeStream(context_, call);
    const auto watch = MadePlan::Make(
        {.runner = context_.runner,
         .calls = context_.calls,
         .patience = patience_,
         .cancel = [context] { context->TryCancel(); }},
        [slot](v1::PlanUpdate&& update) {
          plans::PlanEvents said = plans::TranslateUpdate(std::move(update));
          return MadePlan::Translated{std::move(said.events),
                                      std::move(said.end)};
        });
    watch->Begin(
        [this, request, may_hold = slot.status(), call,
         trace =
             FindTraceparent(*context)]() -> absl::StatusOr<v1::PlanRecord> {
          RETURN_IF_ERROR(may_hold);
          ASSIGN_OR_RETURN(const security::Caller caller,
                           context_.guard->Identify(call));
          RETURN_IF_ERROR(security::CheckXlaFlags(request->xla_flags()));
          v1::SubmitPlanRequest submission;
          *submission.mutable_request() = *request;
          const v1::SubmitPlanRequest named =
              SubmitAs(caller, call.peer, submission);
          audit::AuditedChange deed(*context_.guard, context_.name, call,
                                    caller.id);
          absl::StatusOr<v1::PlanRecord> record = context_.runner->Submit(
              named, trace, FindPlanQuota(*context_.guard, named.namespace_()));
          deed.Record(record.status(), record.ok() ? record->id() : "");
          return record;
        },
        [guard = context_.guard, call] { return guard->MayGoOn(call); },
        /*after=*/0);
    return watch.get();
  }

  grpc::ServerWriteReactor<v1::CompareEvent>* Compare(
      grpc::CallbackServerContext* context,
      const v1::CompareRequest* request) override {
    const security::Call call =
        DescribeCall(*context, "/meshwright.v1.Planning/Compare");
    return CompareStream::Answer(
        {.calls = context_.calls,
         .may_go_on = [guard = context_.guard,
                       call] { return guard->MayGoOn(call); },
         .patience = patience_,
         .cancel = [context] { context->TryCancel(); }},
        TakeMeasuringSlot(context_, call),
        [this, request = *request, call,
         trace = FindTraceparent(*context)](CompareStream& stream) {
          const base::LogScope scope({.traceparent = trace});
          return RunComparison(call, request, stream);
        });
  }

  grpc::ServerUnaryReactor* PlanResharding(
      grpc::CallbackServerContext* context,
      const v1::ReshardingRequest* request,
      v1::ReshardingAnswer* answer) override {
    return StartResharding(
        context_,
        DescribeCall(*context, "/meshwright.v1.Planning/PlanResharding"),
        context, request, answer);
  }

  grpc::ServerUnaryReactor* ListJobs(grpc::CallbackServerContext* context,
                                     const v1::ListJobsRequest* request,
                                     v1::ListJobsResponse* response) override;
  grpc::ServerUnaryReactor* ListWorkers(
      grpc::CallbackServerContext* context,
      const v1::ListWorkersRequest* request,
      v1::ListWorkersResponse* response) override;

 private:
  using MadePlan =
      PlanWatch<grpc::ServerWriteReactor<v1::PlanEvent>, v1::PlanEvent>;

  // The modules that were put, into the programs that name them.
  absl::Status FillModules(const v1::CompareRequest& request,
                           v1::RunnerRequest* run) const {
    if (request.module_sha256().empty()) return absl::OkStatus();
    if (request.module_sha256_size() != request.programs_size() + 1) {
      return absl::InvalidArgumentError(
          "a comparison names a module for its reference and for each of its "
          "programs, or none");
    }
    for (int i = 0; i < request.module_sha256_size(); ++i) {
      v1::Program& program =
          i == 0 ? *run->mutable_reference() : *run->mutable_programs(i - 1);
      ASSIGN_OR_RETURN(
          *program.mutable_hlo_module(),
          context_.profiles->LookupProgram(request.module_sha256(i)));
    }
    return absl::OkStatus();
  }

  void CountError(const v1::CompareRequest& request,
                  const std::string& device_kind,
                  const v1::ProfileResult& result) const {
    const auto found = request.predicted_seconds().find(result.key());
    const int64_t measured_ns = store::GetTimeNs(result.measurement());
    if (context_.predictions == nullptr ||
        found == request.predicted_seconds().end() || !(found->second > 0) ||
        measured_ns <= 0) {
      return;
    }
    context_.predictions->AddPrediction(
        device_kind, found->second, static_cast<double>(measured_ns) * 1e-9);
  }

  absl::Status RunComparison(const security::Call& call,
                             const v1::CompareRequest& request,
                             CompareStream& stream) const {
    if (!request.has_reference()) {
      return absl::InvalidArgumentError(
          "a comparison needs a reference program");
    }
    RETURN_IF_ERROR(security::CheckXlaFlags(request.options().xla_flags()));
    v1::RunnerRequest run;
    *run.mutable_device() = request.device();
    *run.mutable_options() = request.options();
    *run.mutable_reference() = request.reference();
    *run.mutable_programs() = request.programs();
    RETURN_IF_ERROR(FillModules(request, &run));
    ASSIGN_OR_RETURN(const security::Caller caller,
                     context_.guard->Identify(call));
    jobs::QueueMeasurer measurer(context_.queue, stream.stop(), std::nullopt,
                                 OriginOf(caller, call.peer));
    std::string device_kind;
    if (context_.predictions != nullptr &&
        !request.predicted_seconds().empty()) {
      ASSIGN_OR_RETURN(const jobs::DeviceDescription devices,
                       measurer.Describe(request.device()));
      device_kind = devices.device_kind;
    }
    return jobs::MeasureWithProgress(
        &measurer, run,
        [&](const v1::ProfileResult& result) {
          v1::CompareEvent event;
          *event.mutable_result() = result;
          stream.Send(std::move(event));
          CountError(request, device_kind, result);
          return absl::OkStatus();
        },
        [&](const v1::PlanProgress& progress) {
          v1::CompareEvent event;
          *event.mutable_progress() = progress;
          stream.SendProgress(std::move(event));
        });
  }

  const ServiceContext context_;
  const absl::Duration patience_;  // until an event is taken
};

grpc::ServerUnaryReactor* PlanningService::ListJobs(
    grpc::CallbackServerContext* context,
    const v1::ListJobsRequest* /*request*/, v1::ListJobsResponse* response) {
  const security::Call call =
      DescribeCall(*context, "/meshwright.v1.Planning/ListJobs");
  return AnswerAtOnce(
      context_, call, context, response,
      [&]() -> absl::StatusOr<v1::ListJobsResponse> {
        ASSIGN_OR_RETURN(const security::Caller caller,
                         context_.guard->Identify(call));
        RETURN_IF_ERROR(plans::CheckHoldsWorkers(context_.leadership));
        v1::ListJobsResponse listed;
        for (v1::JobSummary& job : context_.queue->Jobs()) {
          *listed.add_jobs() = ShowTo(caller, std::move(job));
        }
        return listed;
      });
}

grpc::ServerUnaryReactor* PlanningService::ListWorkers(
    grpc::CallbackServerContext* context, const v1::ListWorkersRequest* request,
    v1::ListWorkersResponse* response) {
  const security::Call call =
      DescribeCall(*context, "/meshwright.v1.Planning/ListWorkers");
  if (context_.leadership != nullptr && !context_.leadership->Leads()) {
    const std::string leader = context_.leadership->leader();
    if (!leader.empty()) {
      context->AddTrailingMetadata(plans::kLeaderMetadata, leader);
    }
    return AnswerUnary(
        context_, call, context, response,
        [this, leader]() -> absl::StatusOr<v1::ListWorkersResponse> {
          ASSIGN_OR_RETURN(const std::vector<v1::WorkerSummary> workers,
                           plans::ReadWorkers(context_.runner->plans(),
                                              context_.clock->Now(), leader));
          v1::ListWorkersResponse listed;
          listed.mutable_workers()->Assign(workers.begin(), workers.end());
          return listed;
        });
  }
  return AnswerAtOnce(context_, call, context, response, [&] {
    v1::ListWorkersResponse listed;
    for (v1::WorkerSummary& worker : context_.runner->ListWorkers()) {
      *listed.add_workers() = std::move(worker);
    }
    return listed;
  });
}

class ReshardingService : public v1::Resharding::CallbackService {
 public:
  explicit ReshardingService(const ServiceContext& context)
      : context_(context) {}

  grpc::ServerUnaryReactor* Plan(grpc::CallbackServerContext* context,
                                 const v1::ReshardingRequest* request,
                                 v1::ReshardingAnswer* answer) override {
    return StartResharding(
        context_, DescribeCall(*context, "/meshwright.v1.Resharding/Plan"),
        context, request, answer);
  }

 private:
  const ServiceContext context_;
};

}  // namespace

absl::StatusOr<jobs::QueueMeasurer> NewPlanMeasurer(
    const ServiceContext& context, const security::Call& call,
    const v1::PlanRecord& plan, std::stop_token stop) {
  ASSIGN_OR_RETURN(const security::Caller caller,
                   context.guard->Identify(call));
  std::optional<jobs::DeviceDescription> devices;
  if (plan.has_device()) devices = jobs::ReadDeviceRecord(plan.device());
  return jobs::QueueMeasurer(context.queue, std::move(stop), std::move(devices),
                             OriginOf(caller, call.peer, plan));
}

std::unique_ptr<grpc::Service> NewPlanningService(const ServiceContext& context,
                                                  const ServerLimits& limits) {
  return std::make_unique<PlanningService>(context, limits);
}

std::unique_ptr<grpc::Service> NewReshardingService(
    const ServiceContext& context) {
  return std::make_unique<ReshardingService>(context);
}

}  // namespace meshwright::service
