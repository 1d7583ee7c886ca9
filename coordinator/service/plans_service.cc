#include <grpcpp/grpcpp.h>

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log/log_context.h"
#include "base/status_macros.h"
#include "coordinator/audit/audited_change.h"
#include "coordinator/jobs/queue_measurer.h"
#include "coordinator/plans/outgoing_files.h"
#include "coordinator/security/xla_flags.h"
#include "coordinator/service/caller_slots.h"
#include "coordinator/service/event_stream.h"
#include "coordinator/service/file_call.h"
#include "coordinator/service/plan_access.h"
#include "coordinator/service/plan_watch.h"
#include "coordinator/service/server_credentials.h"
#include "coordinator/service/services.h"
#include "coordinator/service/unary_answer.h"
#include "profiledb/store/plan_updates.h"
#include "proto/v1/plans.grpc.pb.h"

namespace meshwright::service {
namespace {

using ValidateStream =
    EventStream<grpc::ServerWriteReactor<v1::ValidatePlanEvent>,
                v1::ValidatePlanEvent, grpc::Status>;

using ModulesCall = FileCall<grpc::ServerWriteReactor<v1::ExportPlanChunk>,
                             v1::ExportPlanChunk, plans::OutgoingFiles>;

class PlansService : public v1::Plans::CallbackService {
 public:
  PlansService(const ServiceContext& context, const ServerLimits& limits,
               plans::PlanQuestions questions)
      : context_(context),
        limits_(limits),
        runner_(context.runner),
        calls_(context.calls),
        guard_(context.guard),
        questions_(std::move(questions)) {}

  grpc::ServerUnaryReactor* Submit(grpc::CallbackServerContext* context,
                                   const v1::SubmitPlanRequest* request,
                                   v1::PlanRecord* record) override {
    const security::Call call = DescribeCall(*context, kSubmitPath);
    return AnswerUnary(
        context_, call, context, record,
        [this, request, call, trace = FindTraceparent(*context)]()
            -> absl::StatusOr<v1::PlanRecord> {
          ASSIGN_OR_RETURN(const security::Caller caller,
                           guard_->Identify(call));
          RETURN_IF_ERROR(
              security::CheckXlaFlags(request->request().xla_flags()));
          const v1::SubmitPlanRequest named =
              SubmitAs(caller, call.peer, *request);
          audit::AuditedChange deed(*guard_, context_.name, call, caller.id);
          absl::StatusOr<v1::PlanRecord> submitted = runner_->Submit(
              named, trace, FindPlanQuota(*guard_, named.namespace_()));
          deed.Record(submitted.status(),
                      submitted.ok() ? submitted->id() : "");
          return submitted;
        });
  }

  grpc::ServerUnaryReactor* Get(grpc::CallbackServerContext* context,
                                const v1::GetPlanRequest* request,
                                v1::PlanRecord* record) override {
    const security::Call call = DescribeCall(*context, kGetPath);
    return AnswerUnary(
        context_, call, context, record,
        [this, request, call]() { return FindPlan(call, request->id()); });
  }

  grpc::ServerUnaryReactor* List(grpc::CallbackServerContext* context,
                                 const v1::ListPlansRequest* request,
                                 v1::ListPlansResponse* response) override {
    const security::Call call = DescribeCall(*context, kListPath);
    return AnswerUnary(
        context_, call, context, response,
        [this, request, call]() -> absl::StatusOr<v1::ListPlansResponse> {
          ASSIGN_OR_RETURN(const security::Caller caller,
                           guard_->Identify(call));
          return ListPlans(runner_->plans(), caller, *request);
        });
  }

  grpc::ServerUnaryReactor* Cancel(grpc::CallbackServerContext* context,
                                   const v1::CancelPlanRequest* request,
                                   v1::PlanRecord* record) override {
    const security::Call call = DescribeCall(*context, kCancelPath);
    return AnswerUnary(
        context_, call, context, record,
        [this, request, call]() -> absl::StatusOr<v1::PlanRecord> {
          ASSIGN_OR_RETURN(const security::Caller caller,
                           guard_->Identify(call));
          ASSIGN_OR_RETURN(const v1::PlanRecord plan,
                           FindPlan(call, request->id()));
          ASSIGN_OR_RETURN(const store::PlanId id,
                           store::ParsePlanId(plan.id()));
          audit::AuditedChange deed(*guard_, context_.name, call, caller.id,
                                    plan.id());
          const auto end = [&]() -> absl::StatusOr<v1::PlanRecord> {
            RETURN_IF_ERROR(CheckMayEnd(caller, plan));
            if (!store::HasEnded(plan.state())) {
              RETURN_IF_ERROR(
                  plans::CheckLeads(context_.leadership, "ends plans"));
            }
            return runner_->Cancel(
                id, absl::StrCat("cancelled by ",
                                 caller.id.empty() ? call.peer : caller.id));
          };
          absl::StatusOr<v1::PlanRecord> ended = end();
          deed.Record(ended.status());
          return ended;
        });
  }

  grpc::ServerUnaryReactor* Explain(grpc::CallbackServerContext* context,
                                    const v1::ExplainPlanRequest* request,
                                    v1::PlanExplanation* answer) override {
    const security::Call call = DescribeCall(*context, kExplainPath);
    return ComputeUnary(
        context_, call, context, answer,
        [this, request, call]() -> absl::StatusOr<v1::PlanExplanation> {
          if (!questions_.explain) return NotAnswered();
          ASSIGN_OR_RETURN(const v1::Plan plan, FindDone(call, request->id()));
          return questions_.explain(plan);
        });
  }

  grpc::ServerUnaryReactor* Diff(grpc::CallbackServerContext* context,
                                 const v1::DiffPlansRequest* request,
                                 v1::PlanDifference* answer) override {
    const security::Call call = DescribeCall(*context, kDiffPath);
    return ComputeUnary(
        context_, call, context, answer,
        [this, request, call]() -> absl::StatusOr<v1::PlanDifference> {
          if (!questions_.diff) return NotAnswered();
          ASSIGN_OR_RETURN(const v1::Plan a, FindDone(call, request->a()));
          ASSIGN_OR_RETURN(const v1::Plan b, FindDone(call, request->b()));
          return questions_.diff(a, b);
        });
  }

  grpc::ServerUnaryReactor* WhatIf(grpc::CallbackServerContext* context,
                                   const v1::WhatIfRequest* request,
                                   v1::Plan* answer) override {
    const security::Call call = DescribeCall(*context, kWhatIfPath);
    return ComputeUnary(context_, call, context, answer,
                        [this, request, call]() -> absl::StatusOr<v1::Plan> {
                          if (!questions_.what_if) return NotAnswered();
                          ASSIGN_OR_RETURN(const v1::Plan plan,
                                           FindDone(call, request->id()));
                          return questions_.what_if(plan, request->change());
                        });
  }

  grpc::ServerWriteReactor<v1::ExportPlanChunk>* Export(
      grpc::CallbackServerContext* context,
      const v1::ExportPlanRequest* request) override {
    const security::Call call = DescribeCall(*context, kExportPath);
    return ModulesCall::Begin(
        {.calls = calls_,
         .guard = guard_,
         .call = call,
         .patience = limits_.stream_idle,
         .cancel = [context] { context->TryCancel(); }},
        TakeStream(context_, call),
        [this, id = request->id(),
         call]() -> absl::StatusOr<plans::OutgoingFiles> {
          if (!questions_.export_plan) return NotAnswered();
          // Until they are made: who reads slowly holds no computation up.
          ASSIGN_OR_RETURN(const CallSlots::Slot slot,
                           TakeSlot(context_, call, context_.computations));
          ASSIGN_OR_RETURN(const v1::Plan plan, FindDone(call, id));
          ASSIGN_OR_RETURN(auto files, questions_.export_plan(plan));
          return plans::MakeOutgoingFiles(std::move(files));
        });
  }

  grpc::ServerWriteReactor<v1::ValidatePlanEvent>* Validate(
      grpc::CallbackServerContext* context,
      const v1::ValidatePlanRequest* request) override {
    const security::Call call = DescribeCall(*context, kValidatePath);
    return ValidateStream::Answer(
        {.calls = calls_,
         .may_go_on = [guard = guard_, call] { return guard->MayGoOn(call); },
         .patience = limits_.stream_idle,
         .cancel = [context] { context->TryCancel(); }},
        TakeMeasuringSlot(context_, call),
        [this, request = *request, call,
         trace = FindTraceparent(*context)](ValidateStream& stream) {
          const base::LogScope scope({.traceparent = trace});
          return RunValidation(call, request, stream);
        });
  }

  grpc::ServerWriteReactor<v1::PlanUpdate>* Watch(
      grpc::CallbackServerContext* context,
      const v1::WatchPlanRequest* request) override {
    using Watched =
        PlanWatch<grpc::ServerWriteReactor<v1::PlanUpdate>, v1::PlanUpdate>;
    const security::Call call = DescribeCall(*context, kWatchPath);
    // The translation lives as long as its watch, and the slot with it.
    const absl::StatusOr<CallSlots::Slot> slot = TakeStream(context_, call);
    const auto watch =
        Watched::Make({.runner = runner_,
                       .calls = calls_,
                       .patience = limits_.stream_idle,
                       .cancel = [context] { context->TryCancel(); }},
                      [slot](v1::PlanUpdate&& update) {
                        Watched::Translated translated;
                        if (store::HasEnded(update.state())) {
                          translated.end = absl::OkStatus();
                        }
                        translated.events.push_back(std::move(update));
                        return translated;
                      });
    watch->Begin(
        [this, request, may_hold = slot.status(),
         call]() -> absl::StatusOr<v1::PlanRecord> {
          RETURN_IF_ERROR(may_hold);
          return FindPlan(call, request->id());
        },
        [guard = guard_, call] { return guard->MayGoOn(call); },
        request->after());
    return watch.get();
  }

 private:
  static constexpr char kSubmitPath[] = "/meshwright.v1.Plans/Submit";
  static constexpr char kGetPath[] = "/meshwright.v1.Plans/Get";
  static constexpr char kListPath[] = "/meshwright.v1.Plans/List";
  static constexpr char kWatchPath[] = "/meshwright.v1.Plans/Watch";
  static constexpr char kCancelPath[] = "/meshwright.v1.Plans/Cancel";
  static constexpr char kExplainPath[] = "/meshwright.v1.Plans/Explain";
  static constexpr char kDiffPath[] = "/meshwright.v1.Plans/Diff";
  static constexpr char kWhatIfPath[] = "/meshwright.v1.Plans/WhatIf";
  static constexpr char kExportPath[] = "/meshwright.v1.Plans/Export";
  static constexpr char kValidatePath[] = "/meshwright.v1.Plans/Validate";

  static absl::Status NotAnswered() {
    return absl::UnimplementedError(
        "this coordinator answers no questions about plans");
  }

  absl::StatusOr<v1::PlanRecord> FindPlan(const security::Call& call,
                                          const std::string& id) const {
    return FindSeenPlan(*guard_, runner_->plans(), call, id);
  }

  // The plan of one that is done.
  absl::StatusOr<v1::Plan> FindDone(const security::Call& call,
                                    const std::string& id) const {
    ASSIGN_OR_RETURN(v1::PlanRecord record,
                     FindDonePlan(*guard_, runner_->plans(), call, id));
    return std::move(*record.mutable_plan());
  }

  void CountErrors(const v1::PlanRecord& plan,
                   const v1::ValidationReport& report) const {
    if (context_.predictions == nullptr || !plan.has_device()) return;
    for (const v1::ValidatedPlan& row : report.plans()) {
      if (!(row.predicted_seconds() > 0) || !(row.measured_seconds() > 0)) {
        continue;
      }
      context_.predictions->AddPrediction(plan.device().device_kind(),
                                          row.predicted_seconds(),
                                          row.measured_seconds());
    }
  }

  absl::Status RunValidation(const security::Call& call,
                             const v1::ValidatePlanRequest& request,
                             ValidateStream& stream) const {
    if (!questions_.validate) return NotAnswered();
    ASSIGN_OR_RETURN(
        const v1::PlanRecord plan,
        FindDonePlan(*guard_, runner_->plans(), call, request.id()));
    ASSIGN_OR_RETURN(jobs::QueueMeasurer measurer,
                     NewPlanMeasurer(context_, call, plan, stream.stop()));
    return questions_.validate(plan, request, &measurer,
                               [&](const v1::ValidatePlanEvent& event) {
                                 if (event.has_progress()) {
                                   stream.SendProgress(event);
                                   return;
                                 }
                                 if (event.has_report())
                                   CountErrors(plan, event.report());
                                 stream.Send(event);
                               });
  }

  const ServiceContext context_;
  const ServerLimits limits_;
  plans::PlanRunner* const runner_;  // as the context has them
  base::ThreadPool* const calls_;
  const security::Guard* const guard_;
  const plans::PlanQuestions questions_;
};

}  // namespace

std::unique_ptr<grpc::Service> NewPlansService(const ServiceContext& context,
                                               const ServerLimits& limits,
                                               plans::PlanQuestions questions) {
  return std::make_unique<PlansService>(context, limits, std::move(questions));
}

}  // namespace meshwright::service
