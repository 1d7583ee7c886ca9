#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "base/status_macros.h"
#include "coordinator/audit/audited_change.h"
#include "coordinator/service/caller_slots.h"
#include "coordinator/service/file_call.h"
#include "coordinator/service/quota_report.h"
#include "coordinator/service/server_credentials.h"
#include "coordinator/service/services.h"
#include "coordinator/service/unary_answer.h"
#include "profiledb/upkeep/backup.h"
#include "profiledb/upkeep/clean_store.h"
#include "profiledb/upkeep/store_reports.h"
#include "proto/v1/admin.grpc.pb.h"

namespace meshwright::service {
namespace {

constexpr char kBackUpPath[] = "/meshwright.v1.Admin/BackUpStore";
constexpr char kDescribePath[] = "/meshwright.v1.Admin/DescribeStore";
constexpr char kListQuarantinePath[] = "/meshwright.v1.Admin/ListQuarantine";
constexpr char kVerifyPath[] = "/meshwright.v1.Admin/VerifyStore";
constexpr char kCollectPath[] = "/meshwright.v1.Admin/CollectGarbage";
constexpr char kListQuotasPath[] = "/meshwright.v1.Admin/ListQuotas";
constexpr char kGetJobPath[] = "/meshwright.v1.Admin/GetJob";
constexpr char kCancelJobPath[] = "/meshwright.v1.Admin/CancelJob";
constexpr char kRetryJobPath[] = "/meshwright.v1.Admin/RetryJob";
constexpr char kDrainPath[] = "/meshwright.v1.Admin/DrainWorker";
constexpr char kQuarantinePath[] = "/meshwright.v1.Admin/QuarantineWorker";
constexpr char kResumePath[] = "/meshwright.v1.Admin/ResumeWorker";
constexpr char kRetryPath[] = "/meshwright.v1.Admin/RetryQuarantined";

using BackupCall = FileCall<grpc::ServerWriteReactor<v1::BackupChunk>,
                            v1::BackupChunk, store::OutgoingBackup>;

// Requests about jobs wait for no disk, and are answered on gRPC's threads.
class AdminService : public v1::Admin::CallbackService {
 public:
  AdminService(const ServiceContext& context, const ServerLimits& limits,
               std::string store)
      : context_(context), limits_(limits), store_(std::move(store)) {}

  grpc::ServerUnaryReactor* DrainWorker(grpc::CallbackServerContext* context,
                                        const v1::WorkerRequest* request,
                                        v1::WorkerSummary* worker) override {
    return Order(context, kDrainPath, *request, v1::WorkerOrder::DRAIN, worker);
  }
  grpc::ServerUnaryReactor* QuarantineWorker(
      grpc::CallbackServerContext* context, const v1::WorkerRequest* request,
      v1::WorkerSummary* worker) override {
    return Order(context, kQuarantinePath, *request,
                 v1::WorkerOrder::QUARANTINE, worker);
  }
  grpc::ServerUnaryReactor* ResumeWorker(grpc::CallbackServerContext* context,
                                         const v1::WorkerRequest* request,
                                         v1::WorkerSummary* worker) override {
    return Order(context, kResumePath, *request, v1::WorkerOrder::RESUME,
                 worker);
  }

  grpc::ServerUnaryReactor* GetJob(grpc::CallbackServerContext* context,
                                   const v1::JobRequest* request,
                                   v1::JobDetails* details) override {
    return Answer(context, kGetJobPath, details,
                  [&]() -> absl::StatusOr<v1::JobDetails> {
                    ASSIGN_OR_RETURN(const jobs::JobId id,
                                     jobs::ParseJobId(request->job()));
                    return context_.queue->GetJob(id);
                  });
  }
  grpc::ServerUnaryReactor* CancelJob(grpc::CallbackServerContext* context,
                                      const v1::JobRequest* request,
                                      v1::JobSummary* job) override {
    return Answer(context, kCancelJobPath, job,
                  [&]() -> absl::StatusOr<v1::JobSummary> {
                    ASSIGN_OR_RETURN(const jobs::JobId id,
                                     jobs::ParseJobId(request->job()));
                    auto ended = context_.queue->EndJob(id, request->reason());
                    Record(DescribeCall(*context, kCancelJobPath),
                           ended.status(), request->job());
                    return ended;
                  });
  }
  grpc::ServerUnaryReactor* RetryJob(grpc::CallbackServerContext* context,
                                     const v1::JobRequest* request,
                                     v1::JobSummary* job) override {
    return Answer(context, kRetryJobPath, job,
                  [&]() -> absl::StatusOr<v1::JobSummary> {
                    ASSIGN_OR_RETURN(const jobs::JobId id,
                                     jobs::ParseJobId(request->job()));
                    auto tried = context_.queue->RetryJob(id);
                    Record(DescribeCall(*context, kRetryJobPath),
                           tried.status(), request->job());
                    return tried;
                  });
  }

  grpc::ServerUnaryReactor* DescribeStore(
      grpc::CallbackServerContext* context,
      const v1::DescribeStoreRequest* /*request*/,
      v1::StoreReport* report) override {
    return Compute(context, kDescribePath, report,
                   [this] { return store::ReportStore(*context_.profiles); });
  }
  grpc::ServerUnaryReactor* ListQuarantine(
      grpc::CallbackServerContext* context,
      const v1::ListQuarantineRequest* /*request*/,
      v1::QuarantineReport* report) override {
    return Compute(context, kListQuarantinePath, report, [this] {
      return store::ReportQuarantine(*context_.profiles);
    });
  }
  grpc::ServerUnaryReactor* VerifyStore(
      grpc::CallbackServerContext* context,
      const v1::VerifyStoreRequest* /*request*/,
      v1::VerifyReport* report) override {
    return Compute(context, kVerifyPath, report, [this] {
      return store::ReportDamage(*context_.profiles, context_.runner->plans());
    });
  }
  grpc::ServerUnaryReactor* RetryQuarantined(
      grpc::CallbackServerContext* context,
      const v1::RetryQuarantinedRequest* request,
      v1::RetryQuarantinedResponse* response) override {
    return Compute(context, kRetryPath, response,
                   [this, request, call = DescribeCall(*context, kRetryPath)]()
                       -> absl::StatusOr<v1::RetryQuarantinedResponse> {
                     const absl::Status status =
                         context_.profiles->RetryQuarantined(request->key());
                     Record(call, status, request->key());
                     RETURN_IF_ERROR(status);
                     return v1::RetryQuarantinedResponse();
                   });
  }
  grpc::ServerUnaryReactor* CollectGarbage(grpc::CallbackServerContext* context,
                                           const v1::GcLimits* request,
                                           v1::GcReport* report) override {
    return Compute(context, kCollectPath, report, [this, request] {
      return store::CleanStore(*context_.profiles, context_.runner->plans(),
                               *request,
                               store::Nanoseconds(std::chrono::nanoseconds(
                                   absl::ToUnixNanos(context_.clock->Now()))));
    });
  }
  grpc::ServerWriteReactor<v1::BackupChunk>* BackUpStore(
      grpc::CallbackServerContext* context,
      const v1::BackUpStoreRequest* /*request*/) override {
    const security::Call call = DescribeCall(*context, kBackUpPath);
    return BackupCall::Begin(
        {.calls = context_.calls,
         .guard = context_.guard,
         .call = call,
         .patience = limits_.stream_idle,
         .cancel = [context] { context->TryCancel(); }},
        TakeStream(context_, call),
        [this]() -> absl::StatusOr<store::OutgoingBackup> {
          if (store_.empty()) {
            return absl::UnimplementedError(
                "this coordinator keeps its store in memory, of which there "
                "are no backups");
          }
          return store::MakeOutgoingBackup(store_);
        });
  }
  grpc::ServerUnaryReactor* ListQuotas(
      grpc::CallbackServerContext* context,
      const v1::ListQuotasRequest* /*request*/,
      v1::ListQuotasResponse* response) override {
    return Compute(context, kListQuotasPath, response, [this] {
      return ReportQuotas(context_.guard->ListQuotas(),
                          context_.runner->plans(),
                          context_.runner->unclaimed());
    });
  }

 private:
  void Record(const security::Call& call, const absl::Status& outcome,
              const std::string& object) const {
    const auto caller = context_.guard->Identify(call);
    context_.guard->Record(call, caller.ok() ? caller->id : "", outcome,
                           object);
  }

  // An answer that waits for the disk, and may read the whole store.
  template <typename Response, typename Work>
  grpc::ServerUnaryReactor* Compute(grpc::CallbackServerContext* context,
                                    const char* path, Response* response,
                                    Work work) const {
    return ComputeUnary(context_, DescribeCall(*context, path), context,
                        response, std::move(work));
  }

  template <typename Response, typename Work>
  grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context,
                                   const char* path, Response* response,
                                   const Work& work) const {
    return AnswerAtOnce(
        context_, DescribeCall(*context, path), context, response,
        [&]() -> absl::StatusOr<Response> {
          RETURN_IF_ERROR(plans::CheckHoldsWorkers(context_.leadership));
          return work();
        });
  }

  grpc::ServerUnaryReactor* Order(grpc::CallbackServerContext* context,
                                  const char* path,
                                  const v1::WorkerRequest& request,
                                  v1::WorkerOrder::Kind kind,
                                  v1::WorkerSummary* worker) {
    v1::WorkerOrder order;
    order.set_worker(request.worker());
    order.set_kind(kind);
    order.set_reason(request.reason());
    const security::Call call = DescribeCall(*context, path);
    return AnswerUnary(
        context_, call, context, worker,
        [this, order, call]() -> absl::StatusOr<v1::WorkerSummary> {
          RETURN_IF_ERROR(plans::CheckHoldsWorkers(context_.leadership));
          const auto caller = context_.guard->Identify(call);
          audit::AuditedChange deed(*context_.guard, context_.name, call,
                                    caller.ok() ? caller->id : "",
                                    order.worker());
          auto ordered = context_.runner->Order(order);
          deed.Record(ordered.status());
          return ordered;
        });
  }

  const ServiceContext context_;
  const ServerLimits limits_;
  const std::string store_;
};

}  // namespace

std::unique_ptr<grpc::Service> NewAdminService(const ServiceContext& context,
                                               const ServerLimits& limits,
                                               const std::string& store) {
  return std::make_unique<AdminService>(context, limits, store);
}

}  // namespace meshwright::service
