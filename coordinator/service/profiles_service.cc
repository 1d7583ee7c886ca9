#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/log/log_context.h"
#include "base/mutex.h"
#include "base/rpc/idle_limit.h"
#include "base/status_macros.h"
#include "coordinator/jobs/queue_measurer.h"
#include "coordinator/service/caller_slots.h"
#include "coordinator/service/event_stream.h"
#include "coordinator/service/file_call.h"
#include "coordinator/service/plan_access.h"
#include "coordinator/service/server_credentials.h"
#include "coordinator/service/services.h"
#include "coordinator/service/unary_answer.h"
#include "profiledb/store/check_row.h"
#include "profiledb/upkeep/measurement_transfer.h"
#include "proto/v1/profiles.grpc.pb.h"

namespace meshwright::service {
namespace {

constexpr int kMaxKeys = 1000;  // of a look-up
constexpr char kLookUpPath[] = "/meshwright.v1.Profiles/LookUp";
constexpr char kCoveragePath[] = "/meshwright.v1.Profiles/Coverage";
constexpr char kExportPath[] = "/meshwright.v1.Profiles/Export";
constexpr char kImportPath[] = "/meshwright.v1.Profiles/Import";
constexpr char kRemeasurePath[] = "/meshwright.v1.Profiles/Remeasure";

using RemeasureStream =
    EventStream<grpc::ServerWriteReactor<v1::RemeasureEvent>,
                v1::RemeasureEvent, grpc::Status>;

using ExportCall = FileCall<grpc::ServerWriteReactor<v1::ExportChunk>,
                            v1::ExportChunk, store::OutgoingMeasurements>;

// A file of measurements that comes in chunks. The disk is waited for on
// `calls`. It holds itself until gRPC is done with it; the limit, which may end
// it later, holds it weakly.
class ImportCall : public grpc::ServerReadReactor<v1::ImportChunk> {
 public:
  static ImportCall* Begin(const ServiceContext& context,
                           const ServerLimits& limits,
                           grpc::CallbackServerContext* call,
                           v1::ImportReport* report) {
    auto import = std::make_shared<ImportCall>(context, limits.import_bytes,
                                               call, report);
    import->self_ = import;
    if (!import->slot_.ok()) {
      import->End(import->slot_.status());
      return import.get();
    }
    import->LimitIdleTime(limits.stream_idle);
    import->StartRead(&import->chunk_);
    return import.get();
  }

  ImportCall(const ServiceContext& context, int64_t maximum_bytes,
             grpc::CallbackServerContext* call, v1::ImportReport* report)
      : context_(context),
        maximum_bytes_(maximum_bytes),
        call_(call),
        described_(DescribeCall(*call, kImportPath)),
        report_(report),
        slot_(TakeStream(context, described_)) {}

  void OnReadDone(bool ok) override {
    if (!idle_->Note()) return;  // it has ended
    context_.calls->Post([import = self_, ok] {
      const absl::Status status = ok ? import->Take() : import->Record();
      if (ok && status.ok()) {
        import->GoOn();
      } else {
        import->End(status);
      }
    });
  }
  void OnDone() override { self_.reset(); }

 private:
  void LimitIdleTime(absl::Duration patience) {
    idle_ =
        std::make_unique<base::IdleLimit>(patience, self_, [this, patience] {
          End(absl::DeadlineExceededError(absl::StrCat(
              "no chunk of the file came for ", absl::FormatDuration(patience),
              "; import it again")));
        });
    idle_->Await();
  }

  void GoOn() {
    base::MutexLock lock(&mutex_);
    // The time may end between the two: gRPC may be done with it then.
    if (is_ended_) return;
    idle_->Await();
    StartRead(&chunk_);
  }

  void End(const absl::Status& status) {
    base::MutexLock lock(&mutex_);
    if (std::exchange(is_ended_, true)) return;
    Finish(base::ToRpc(status));
  }

  absl::Status Take() {
    RETURN_IF_ERROR(context_.guard->MayGoOn(described_));
    if (file_ == nullptr) {
      team_ = chunk_.namespace_();
      ASSIGN_OR_RETURN(file_,
                       store::IncomingMeasurements::Make(maximum_bytes_));
    }
    return file_->Add(chunk_.data());
  }

  absl::Status Record() {
    if (call_->IsCancelled()) {
      return absl::CancelledError("the client went away");
    }
    if (file_ == nullptr) {
      return absl::InvalidArgumentError("an import needs a file");
    }
    ASSIGN_OR_RETURN(
        *report_,
        file_->Import(*context_.profiles, team_,
                      store::Nanoseconds(std::chrono::nanoseconds(
                          absl::ToUnixNanos(context_.clock->Now())))));
    return absl::OkStatus();
  }

  const ServiceContext& context_;
  const int64_t maximum_bytes_;
  grpc::CallbackServerContext* const call_;
  const security::Call described_;
  v1::ImportReport* const report_;
  const absl::StatusOr<CallSlots::Slot> slot_;
  std::shared_ptr<ImportCall> self_;
  std::unique_ptr<base::IdleLimit> idle_;
  std::string team_;
  std::unique_ptr<store::IncomingMeasurements> file_;
  v1::ImportChunk chunk_;
  base::Mutex mutex_;
  bool is_ended_ ABSL_GUARDED_BY(mutex_) = false;
};

class ProfilesService : public v1::Profiles::CallbackService {
 public:
  ProfilesService(const ServiceContext& context, const ServerLimits& limits,
                  plans::PlanQuestions questions)
      : context_(context), limits_(limits), questions_(std::move(questions)) {}

  grpc::ServerUnaryReactor* LookUp(grpc::CallbackServerContext* context,
                                   const v1::LookUpRequest* request,
                                   v1::LookUpResponse* response) override {
    const security::Call call = DescribeCall(*context, kLookUpPath);
    return AnswerUnary(
        context_, call, context, response,
        [this, request, call] { return LookUpRows(call, *request); });
  }

  grpc::ServerUnaryReactor* Coverage(grpc::CallbackServerContext* context,
                                     const v1::CoverageRequest* request,
                                     v1::CoverageReport* report) override {
    return ComputeUnary(
        context_, DescribeCall(*context, kCoveragePath), context, report,
        [this, request] { return context_.runner->Cover(*request); });
  }

  grpc::ServerWriteReactor<v1::ExportChunk>* Export(
      grpc::CallbackServerContext* context,
      const v1::ExportProfilesRequest* request) override {
    const security::Call call = DescribeCall(*context, kExportPath);
    return ExportCall::Begin(
        {.calls = context_.calls,
         .guard = context_.guard,
         .call = call,
         .patience = limits_.stream_idle,
         .cancel = [context] { context->TryCancel(); }},
        TakeStream(context_, call), [this, team = request->namespace_()] {
          return store::MakeOutgoingMeasurements(*context_.profiles, team);
        });
  }

  grpc::ServerReadReactor<v1::ImportChunk>* Import(
      grpc::CallbackServerContext* context, v1::ImportReport* report) override {
    return ImportCall::Begin(context_, limits_, context, report);
  }

  grpc::ServerWriteReactor<v1::RemeasureEvent>* Remeasure(
      grpc::CallbackServerContext* context,
      const v1::RemeasureRequest* request) override {
    const security::Call call = DescribeCall(*context, kRemeasurePath);
    return RemeasureStream::Answer(
        {.calls = context_.calls,
         .may_go_on = [guard = context_.guard,
                       call] { return guard->MayGoOn(call); },
         .patience = limits_.stream_idle,
         .cancel = [context] { context->TryCancel(); }},
        TakeMeasuringSlot(context_, call),
        [this, request = *request, call,
         trace = FindTraceparent(*context)](RemeasureStream& stream) {
          const base::LogScope scope({.traceparent = trace});
          return RunRemeasuring(call, request, stream);
        });
  }

 private:
  absl::StatusOr<v1::LookUpResponse> LookUpRows(
      const security::Call& call, const v1::LookUpRequest& request) const {
    if (request.keys_size() > kMaxKeys) {
      return absl::InvalidArgumentError(
          absl::StrCat("a look-up has at most ", kMaxKeys, " keys, not ",
                       request.keys_size(), "; make several"));
    }
    for (const std::string& key : request.keys()) {
      RETURN_IF_ERROR(store::CheckKey(key));
    }
    ASSIGN_OR_RETURN(const security::Caller caller,
                     context_.guard->Identify(call));
    ASSIGN_OR_RETURN(const std::string team,
                     FindReadNamespace(caller, request.namespace_()));
    const std::vector<std::string> keys(request.keys().begin(),
                                        request.keys().end());
    ASSIGN_OR_RETURN(store::Results rows,
                     context_.profiles->Lookup(keys, {.team = team}));
    v1::LookUpResponse response;
    for (const std::string& key : keys) {
      const auto found = rows.find(key);
      if (found == rows.end()) continue;
      v1::ProfileResult& row = *response.add_rows();
      row.Swap(&found->second);
      row.clear_host();  // of a machine that is not the caller's to know
      row.clear_worker();
      rows.erase(found);  // a key that comes again has its row already
    }
    return response;
  }

  absl::Status RunRemeasuring(const security::Call& call,
                              const v1::RemeasureRequest& request,
                              RemeasureStream& stream) const {
    if (!questions_.remeasure) {
      return absl::UnimplementedError(
          "this coordinator measures no rows of plans again");
    }
    ASSIGN_OR_RETURN(const v1::PlanRecord plan,
                     FindDonePlan(*context_.guard, context_.runner->plans(),
                                  call, request.id()));
    ASSIGN_OR_RETURN(jobs::QueueMeasurer measurer,
                     NewPlanMeasurer(context_, call, plan, stream.stop()));
    v1::RemeasureEvent event;
    ASSIGN_OR_RETURN(
        v1::RemeasureReport report,
        questions_.remeasure(plan, request, &measurer,
                             [&](const v1::PlanProgress& progress) {
                               *event.mutable_progress() = progress;
                               stream.SendProgress(event);
                             }));
    *event.mutable_report() = std::move(report);
    stream.Send(std::move(event));
    return absl::OkStatus();
  }

  const ServiceContext context_;
  const ServerLimits limits_;
  const plans::PlanQuestions questions_;
};

}  // namespace

std::unique_ptr<grpc::Service> NewProfilesService(
    const ServiceContext& context, const ServerLimits& limits,
    plans::PlanQuestions questions) {
  return std::make_unique<ProfilesService>(context, limits,
                                           std::move(questions));
}

}  // namespace meshwright::service
