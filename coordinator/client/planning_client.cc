#include "coordinator/client/planning_client.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/fingerprint.h"
#include "base/rpc/channel.h"
#include "base/rpc/rpc_status.h"
#include "base/status_macros.h"
#include "coordinator/plans/leadership.h"
#include "coordinator/plans/plan_events.h"
#include "proto/v1/admin.grpc.pb.h"
#include "proto/v1/plans.grpc.pb.h"
#include "proto/v1/profiles.grpc.pb.h"
#include "proto/v1/services.grpc.pb.h"

namespace meshwright::client {
namespace {

constexpr size_t kChunkBytes = size_t{1} << 20;
constexpr std::chrono::seconds kCallPatience(10);
// Until the leader answers, to which a call was sent on.
constexpr absl::Duration kLeaderPatience = absl::Seconds(5);
// Of a call that analyses a model or searches again: an explanation searches
// for ten seconds, and compares after that.
constexpr std::chrono::seconds kAnalysisPatience(120);
// Of a call that reads the whole store.
constexpr std::chrono::seconds kStorePatience(300);
// A comparison of more is sent in pieces.
constexpr size_t kCompareBytes = size_t{8} << 20;

enum class Reached { kReady, kRefused, kSilent };

// A refusal is known at once; only silence takes the whole time. That is
// counted in looks, not by a clock: a client that was itself stopped for an
// hour has not waited for an hour.
Reached AwaitReady(grpc::Channel& channel, absl::Duration timeout) {
  constexpr absl::Duration kLook = absl::Milliseconds(100);
  absl::Duration waited;
  while (true) {
    const grpc_connectivity_state state = channel.GetState(true);
    if (state == GRPC_CHANNEL_READY) return Reached::kReady;
    if (state == GRPC_CHANNEL_TRANSIENT_FAILURE) return Reached::kRefused;
    if (waited >= timeout) return Reached::kSilent;
    const absl::Duration look = std::min(kLook, timeout - waited);
    if (!channel.WaitForStateChange(state,
                                    absl::ToChronoTime(absl::Now() + look))) {
      waited += look;
    }
  }
}

// A coordinator that is asked.
struct Peer {
  std::string address;
  std::shared_ptr<grpc::Channel> channel;  // null: there is none
};

// The leader that a coordinator names where it does not lead itself: with a
// refusal, or beside an answer from the rows of the store. Empty: none.
std::string ReadLeader(const grpc::ClientContext& context,
                       const grpc::Status& status) {
  if (status.error_code() == grpc::StatusCode::UNAVAILABLE) {
    return status.error_details();
  }
  if (!status.ok()) return "";
  const auto& said = context.GetServerTrailingMetadata();
  const auto leader = said.find(plans::kLeaderMetadata);
  if (leader == said.end()) return "";
  return std::string(leader->second.data(), leader->second.size());
}

class GrpcPlanningClient : public PlanningClient {
 public:
  GrpcPlanningClient(std::string address, const base::ChannelSecurity& security,
                     std::shared_ptr<grpc::Channel> channel)
      : address_(std::move(address)),
        security_(security),
        channel_(std::move(channel)),
        stub_(v1::Planning::NewStub(channel_)),
        reshardings_(v1::Resharding::NewStub(channel_)),
        plans_(v1::Plans::NewStub(channel_)),
        modules_(v1::Modules::NewStub(channel_)),
        admin_(v1::Admin::NewStub(channel_)),
        profiles_(v1::Profiles::NewStub(channel_)) {}

  absl::StatusOr<v1::Plan> MakePlan(const v1::PlanRequest& request,
                                    const jobs::ProgressFunction& on_progress,
                                    const std::stop_token& stop) override {
    v1::SubmitPlanRequest submission;
    *submission.mutable_request() = request;
    ASSIGN_OR_RETURN(const v1::PlanRecord record, SubmitPlan(submission));
    v1::WatchPlanRequest watch;
    watch.set_id(record.id());
    std::optional<v1::Plan> plan;
    std::optional<absl::Status> end;
    const absl::Status watched = WatchPlan(
        watch,
        [&](const v1::PlanUpdate& update) {
          plans::PlanEvents said = plans::TranslateUpdate(update);
          for (v1::PlanEvent& event : said.events) {
            if (event.has_plan()) plan = std::move(*event.mutable_plan());
            if (event.has_progress() && on_progress) {
              on_progress(event.progress());
            }
          }
          if (said.end.has_value()) end = std::move(said.end);
        },
        stop);
    if (end.has_value() && !end->ok()) return *end;
    if (!watched.ok()) return watched;
    if (!plan.has_value()) {
      return absl::InternalError(
          absl::StrCat("the coordinator at ", address_, " sent no plan"));
    }
    return *std::move(plan);
  }

  absl::Status Compare(const v1::CompareRequest& request,
                       const OnCompare& on_event,
                       const std::stop_token& stop) override {
    ASSIGN_OR_RETURN(const v1::CompareRequest small, PutPrograms(request));
    return Listen(*stub_, &v1::Planning::Stub::Compare, small, on_event, stop);
  }

  absl::StatusOr<v1::ReshardingAnswer> PlanResharding(
      const v1::ReshardingRequest& request, const std::stop_token& stop,
      absl::Duration patience) override {
    grpc::ClientContext context;
    const std::stop_callback cancel(stop, [&] { context.TryCancel(); });
    if (request.has_deadline_seconds()) {
      context.set_deadline(absl::ToChronoTime(
          absl::Now() + patience + absl::Seconds(request.deadline_seconds())));
    }
    v1::ReshardingAnswer answer;
    const absl::Status status =
        Translate(reshardings_->Plan(&context, request, &answer));
    if (!status.ok()) return status;
    return answer;
  }

  absl::StatusOr<v1::PlanRecord> SubmitPlan(
      const v1::SubmitPlanRequest& request) override {
    const std::string& module = request.request().hlo_module();
    if (module.empty()) return Ask(*plans_, &v1::Plans::Stub::Submit, request);
    v1::SubmitPlanRequest named = request;
    named.mutable_request()->clear_hlo_module();
    named.set_module_sha256(base::Sha256Hex(module));
    RETURN_IF_ERROR(PutModule(named.module_sha256(), module));
    absl::StatusOr<v1::PlanRecord> record =
        Ask(*plans_, &v1::Plans::Stub::Submit, named);
    if (!absl::IsNotFound(record.status())) return record;
    // Garbage collection took the module in between.
    RETURN_IF_ERROR(PutModule(named.module_sha256(), module));
    return Ask(*plans_, &v1::Plans::Stub::Submit, named);
  }
  absl::StatusOr<v1::PlanRecord> GetPlan(const std::string& id) override {
    v1::GetPlanRequest request;
    request.set_id(id);
    return Ask(*plans_, &v1::Plans::Stub::Get, request);
  }
  absl::StatusOr<v1::ListPlansResponse> ListPlans(
      const v1::ListPlansRequest& request) override {
    return Ask(*plans_, &v1::Plans::Stub::List, request);
  }
  absl::Status WatchPlan(const v1::WatchPlanRequest& request,
                         const OnUpdate& on_update,
                         const std::stop_token& stop) override {
    return Listen(*plans_, &v1::Plans::Stub::Watch, request, on_update, stop);
  }
  absl::StatusOr<v1::PlanRecord> CancelPlan(const std::string& id) override {
    v1::CancelPlanRequest request;
    request.set_id(id);
    return Ask(*plans_, &v1::Plans::Stub::Cancel, request);
  }

  absl::StatusOr<v1::PlanExplanation> ExplainPlan(
      const std::string& id) override {
    v1::ExplainPlanRequest request;
    request.set_id(id);
    return Ask(*plans_, &v1::Plans::Stub::Explain, request, kAnalysisPatience);
  }
  absl::StatusOr<v1::PlanDifference> DiffPlans(const std::string& a,
                                               const std::string& b) override {
    v1::DiffPlansRequest request;
    request.set_a(a);
    request.set_b(b);
    return Ask(*plans_, &v1::Plans::Stub::Diff, request, kAnalysisPatience);
  }
  absl::StatusOr<v1::Plan> AskWhatIf(const std::string& id,
                                     const v1::WhatIfChange& change) override {
    v1::WhatIfRequest request;
    request.set_id(id);
    *request.mutable_change() = change;
    return Ask(*plans_, &v1::Plans::Stub::WhatIf, request, kAnalysisPatience);
  }

  absl::StatusOr<std::vector<base::NamedFile>> ExportPlan(
      const std::string& id, const std::stop_token& stop) override {
    v1::ExportPlanRequest request;
    request.set_id(id);
    std::string bytes;
    ASSIGN_OR_RETURN(const v1::ExportedFiles report,
                     TakeFile<v1::ExportedFiles>(
                         *plans_, &v1::Plans::Stub::Export, request,
                         [&](const std::string& data) {
                           bytes += data;
                           return absl::OkStatus();
                         },
                         stop));
    std::vector<base::NamedFile> files;
    size_t at = 0;
    for (const v1::ExportedFile& file : report.files()) {
      const auto size = static_cast<size_t>(file.bytes());
      if (size > bytes.size() - at) {
        return absl::InternalError(
            absl::StrCat("the coordinator at ", address_, " sent ", file.name(),
                         " short of its ", size, " bytes"));
      }
      files.push_back({file.name(), bytes.substr(at, size)});
      at += size;
    }
    return files;
  }
  absl::Status ValidatePlan(const v1::ValidatePlanRequest& request,
                            const OnValidate& on_event,
                            const std::stop_token& stop) override {
    return Listen(*plans_, &v1::Plans::Stub::Validate, request, on_event, stop);
  }

  absl::StatusOr<v1::CoverageReport> CoverPlan(
      const v1::PlanRequest& request) override {
    v1::CoverageRequest asked;
    *asked.mutable_request() = request;
    asked.mutable_request()->clear_hlo_module();
    asked.set_module_sha256(base::Sha256Hex(request.hlo_module()));
    const absl::Status put =
        PutModule(asked.module_sha256(), request.hlo_module());
    if (!put.ok()) return put;
    return Ask(*profiles_, &v1::Profiles::Stub::Coverage, asked,
               kAnalysisPatience);
  }

  absl::StatusOr<v1::RemeasureReport> RemeasurePlan(
      const v1::RemeasureRequest& request, const OnProgress& on_progress,
      const std::stop_token& stop) override {
    absl::StatusOr<v1::RemeasureReport> report = absl::InternalError(
        absl::StrCat("the coordinator at ", address_, " sent no report"));
    const absl::Status status =
        Listen(*profiles_, &v1::Profiles::Stub::Remeasure, request,
               std::function<void(const v1::RemeasureEvent&)>(
                   [&](const v1::RemeasureEvent& event) {
                     if (event.has_progress()) on_progress(event.progress());
                     if (event.has_report()) report = event.report();
                   }),
               stop);
    if (!status.ok()) return status;
    return report;
  }

  absl::StatusOr<v1::ExportReport> ExportProfiles(
      const std::string& team, const OnData& on_data,
      const std::stop_token& stop) override {
    v1::ExportProfilesRequest request;
    request.set_namespace_(team);
    return TakeFile<v1::ExportReport>(*profiles_, &v1::Profiles::Stub::Export,
                                      request, on_data, stop);
  }

  absl::StatusOr<v1::ImportReport> ImportProfiles(
      const std::string& team, const NextData& next,
      const std::stop_token& stop) override {
    grpc::ClientContext context;
    const std::stop_callback cancel(stop, [&] { context.TryCancel(); });
    v1::ImportReport report;
    const auto writer = profiles_->Import(&context, &report);
    v1::ImportChunk chunk;
    chunk.set_namespace_(team);
    while (true) {
      absl::StatusOr<std::string> piece = next();
      if (!piece.ok()) {
        context.TryCancel();
        writer->Finish();
        return piece.status();
      }
      if (piece->empty()) break;
      chunk.set_data(*std::move(piece));
      if (!writer->Write(chunk)) break;  // Finish says why
      chunk.clear_namespace_();
    }
    writer->WritesDone();
    const absl::Status status = Translate(writer->Finish());
    if (!status.ok()) return status;
    return report;
  }

  absl::StatusOr<v1::LookUpResponse> LookUpRows(
      const v1::LookUpRequest& request) override {
    return Ask(*profiles_, &v1::Profiles::Stub::LookUp, request);
  }

  absl::StatusOr<v1::ListJobsResponse> ListJobs() override {
    return Ask(*stub_, &v1::Planning::Stub::ListJobs, v1::ListJobsRequest());
  }
  absl::StatusOr<v1::ListWorkersResponse> ListWorkers() override {
    return Ask(*stub_, &v1::Planning::Stub::ListWorkers,
               v1::ListWorkersRequest());
  }

  absl::StatusOr<v1::JobDetails> GetJob(
      const v1::JobRequest& request) override {
    return Ask(*admin_, &v1::Admin::Stub::GetJob, request);
  }
  absl::StatusOr<v1::JobSummary> CancelJob(
      const v1::JobRequest& request) override {
    return Ask(*admin_, &v1::Admin::Stub::CancelJob, request);
  }
  absl::StatusOr<v1::JobSummary> RetryJob(
      const v1::JobRequest& request) override {
    return Ask(*admin_, &v1::Admin::Stub::RetryJob, request);
  }
  absl::StatusOr<v1::WorkerSummary> DrainWorker(
      const v1::WorkerRequest& request) override {
    return Ask(*admin_, &v1::Admin::Stub::DrainWorker, request);
  }
  absl::StatusOr<v1::WorkerSummary> QuarantineWorker(
      const v1::WorkerRequest& request) override {
    return Ask(*admin_, &v1::Admin::Stub::QuarantineWorker, request);
  }
  absl::StatusOr<v1::WorkerSummary> ResumeWorker(
      const v1::WorkerRequest& request) override {
    return Ask(*admin_, &v1::Admin::Stub::ResumeWorker, request);
  }

  absl::StatusOr<v1::StoreReport> DescribeStore() override {
    return Ask(*admin_, &v1::Admin::Stub::DescribeStore,
               v1::DescribeStoreRequest(), kStorePatience);
  }
  absl::StatusOr<v1::QuarantineReport> ListQuarantine() override {
    return Ask(*admin_, &v1::Admin::Stub::ListQuarantine,
               v1::ListQuarantineRequest());
  }
  absl::StatusOr<v1::VerifyReport> VerifyStore() override {
    return Ask(*admin_, &v1::Admin::Stub::VerifyStore, v1::VerifyStoreRequest(),
               kStorePatience);
  }
  absl::Status RetryQuarantined(const std::string& key) override {
    v1::RetryQuarantinedRequest request;
    request.set_key(key);
    return Ask(*admin_, &v1::Admin::Stub::RetryQuarantined, request).status();
  }
  absl::StatusOr<v1::GcReport> CollectGarbage(
      const v1::GcLimits& limits) override {
    return Ask(*admin_, &v1::Admin::Stub::CollectGarbage, limits,
               kStorePatience);
  }
  absl::StatusOr<v1::BackupReport> BackUpStore(
      const OnData& on_data, const std::stop_token& stop) override {
    return TakeFile<v1::BackupReport>(*admin_, &v1::Admin::Stub::BackUpStore,
                                      v1::BackUpStoreRequest(), on_data, stop);
  }
  absl::StatusOr<v1::ListQuotasResponse> ListQuotas() override {
    return Ask(*admin_, &v1::Admin::Stub::ListQuotas, v1::ListQuotasRequest());
  }

 private:
  absl::Status PutModule(const std::string& sha256, const std::string& module) {
    v1::HasModuleRequest request;
    request.set_sha256(sha256);
    const absl::StatusOr<v1::HasModuleResponse> known =
        Ask(*modules_, &v1::Modules::Stub::Has, request);
    if (!known.ok() || known->has()) return known.status();
    grpc::ClientContext context;
    v1::PutModuleResponse response;
    const auto writer = modules_->Put(&context, &response);
    v1::ModuleChunk chunk;
    chunk.set_sha256(sha256);
    chunk.set_module_bytes(static_cast<int64_t>(module.size()));
    for (size_t at = 0; at < module.size(); at += kChunkBytes) {
      chunk.set_data(module.substr(at, kChunkBytes));
      if (!writer->Write(chunk)) break;  // Finish says why
      chunk.clear_sha256();
      chunk.clear_module_bytes();
    }
    writer->WritesDone();
    return Translate(writer->Finish());
  }

  // Whole models may be more than a message holds: they are put, and named.
  absl::StatusOr<v1::CompareRequest> PutPrograms(v1::CompareRequest request) {
    if (request.ByteSizeLong() <= kCompareBytes) return request;
    const auto put = [&](v1::Program* program) {
      const std::string sha256 = base::Sha256Hex(program->hlo_module());
      absl::Status status = PutModule(sha256, program->hlo_module());
      request.add_module_sha256(sha256);
      program->clear_hlo_module();
      return status;
    };
    RETURN_IF_ERROR(put(request.mutable_reference()));
    for (v1::Program& program : *request.mutable_programs()) {
      RETURN_IF_ERROR(put(&program));
    }
    return request;
  }

  // The leader that ReadLeader found, if it answers.
  Peer FindLeader(const std::string& address) {
    if (address.empty()) return {};
    if (leader_.channel == nullptr || leader_.address != address) {
      const auto channel = base::OpenChannel(address, security_);
      leader_ = {address, channel.ok() ? *channel : nullptr};
    }
    // One that does not answer is not kept: gRPC tries it ever more rarely.
    if (leader_.channel != nullptr &&
        AwaitReady(*leader_.channel, kLeaderPatience) != Reached::kReady) {
      leader_ = {};
    }
    return leader_;
  }

  // The leader of the calls before, if its connection is there.
  Peer KnownLeader() {
    if (leader_.channel != nullptr &&
        leader_.channel->GetState(false) != GRPC_CHANNEL_READY) {
      leader_ = {};
    }
    return leader_;
  }

  // A leader that answered nothing is not kept: its connection may outlast it,
  // and the coordinator at `address_` names the next one.
  void ForgetSilentLeader(const grpc::Status& said) {
    const bool is_away = said.error_code() == grpc::StatusCode::UNAVAILABLE &&
                         said.error_details().empty();
    if (is_away || said.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) {
      leader_ = {};
    }
  }

  // A unary call. Where another coordinator leads, at the leader: each call for
  // it that a follower refuses is a failed one in its metrics.
  template <typename Stub, typename Request, typename Response>
  absl::StatusOr<Response> Ask(Stub& stub,
                               grpc::Status (Stub::*call)(grpc::ClientContext*,
                                                          const Request&,
                                                          Response*),
                               const Request& request,
                               std::chrono::seconds patience = kCallPatience) {
    std::string named;  // the leader, by the coordinator that was asked last
    const auto ask = [&](Stub& at, Response* response) {
      grpc::ClientContext context;
      context.set_deadline(std::chrono::system_clock::now() + patience);
      grpc::Status said = (at.*call)(&context, request, response);
      named = ReadLeader(context, said);
      return said;
    };
    const auto ask_leader = [&](const Peer& leader, Response* response) {
      Stub there(leader.channel);
      grpc::Status said = ask(there, response);
      ForgetSilentLeader(said);
      return said;
    };
    const Peer known = KnownLeader();
    const bool is_known = known.channel != nullptr;
    Response response;
    grpc::Status answer =
        is_known ? ask_leader(known, &response) : ask(stub, &response);
    Peer answering = is_known ? known : Peer{address_, channel_};
    if (const Peer leader = FindLeader(named); leader.channel != nullptr) {
      Response leaders;
      const grpc::Status said = ask_leader(leader, &leaders);
      // What a follower answers is kept where the leader answers nothing.
      if (said.ok() || !answer.ok()) {
        answer = said;
        response = std::move(leaders);
        answering = leader;
      }
    }
    const absl::Status status = Translate(answer, answering);
    if (!status.ok()) return status;
    return response;
  }

  // A call that is answered with a stream of events; once more at the leader.
  template <typename Stub, typename Request, typename Event>
  absl::Status Listen(Stub& stub,
                      std::unique_ptr<grpc::ClientReader<Event>> (Stub::*call)(
                          grpc::ClientContext*, const Request&),
                      const Request& request,
                      const std::function<void(const Event&)>& on_event,
                      const std::stop_token& stop) {
    bool has_events = false;
    std::string named;  // the leader, by the coordinator that was asked last
    const auto listen = [&](Stub& at) {
      grpc::ClientContext context;
      const std::stop_callback cancel(stop, [&] { context.TryCancel(); });
      const auto reader = (at.*call)(&context, request);
      Event event;
      while (reader->Read(&event)) {
        has_events = true;
        if (on_event) on_event(event);
      }
      grpc::Status said = reader->Finish();
      named = ReadLeader(context, said);
      return said;
    };
    const grpc::Status end = listen(stub);
    if (has_events || stop.stop_requested()) return Translate(end);
    if (const Peer leader = FindLeader(named); leader.channel != nullptr) {
      Stub there(leader.channel);
      return Translate(listen(there), leader);
    }
    return Translate(end);
  }

  // A call that is answered with a file in pieces, the last of which has the
  // report.
  template <typename Report, typename Stub, typename Request, typename Chunk>
  absl::StatusOr<Report> TakeFile(Stub& stub,
                                  std::unique_ptr<grpc::ClientReader<Chunk>> (
                                      Stub::*call)(grpc::ClientContext*,
                                                   const Request&),
                                  const Request& request, const OnData& on_data,
                                  const std::stop_token& stop) const {
    grpc::ClientContext context;
    const std::stop_callback cancel(stop, [&] { context.TryCancel(); });
    const auto reader = (stub.*call)(&context, request);
    absl::Status taken;
    std::optional<Report> report;
    Chunk chunk;
    while (reader->Read(&chunk)) {
      if (taken.ok() && !chunk.data().empty()) {
        taken = on_data(chunk.data());
        if (!taken.ok()) context.TryCancel();
      }
      if (chunk.has_report()) report = chunk.report();
    }
    const absl::Status status = Translate(reader->Finish());
    RETURN_IF_ERROR(taken);
    RETURN_IF_ERROR(status);
    if (!report.has_value()) {
      return absl::InternalError(
          absl::StrCat("the coordinator at ", address_, " sent no end"));
    }
    return *std::move(report);
  }

  // A connection that broke says so in gRPC's words; ours name the address.
  // The coordinator's own answers arrive on a channel that is ready.
  static absl::Status Translate(const grpc::Status& status, const Peer& asked) {
    if (status.error_code() == grpc::StatusCode::UNAVAILABLE &&
        asked.channel->GetState(false) != GRPC_CHANNEL_READY) {
      return absl::UnavailableError(
          absl::StrCat("the connection to the coordinator at ", asked.address,
                       " broke; plans that it has go on: list and watch them "
                       "when it is back "
                       "(meshwright plans list)"));
    }
    // In gRPC's words, for which no deadline of ours is known.
    if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED &&
        status.error_message() == "Deadline Exceeded") {
      return absl::DeadlineExceededError(absl::StrCat(
          "the coordinator at ", asked.address,
          " is there and does not answer in time; see its log, as its store "
          "may not answer either, and try again"));
    }
    return base::FromRpc(status);
  }
  absl::Status Translate(const grpc::Status& status) const {
    return Translate(status, {address_, channel_});
  }

  const std::string address_;
  const base::ChannelSecurity security_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<v1::Planning::Stub> stub_;
  const std::unique_ptr<v1::Resharding::Stub> reshardings_;
  const std::unique_ptr<v1::Plans::Stub> plans_;
  const std::unique_ptr<v1::Modules::Stub> modules_;
  const std::unique_ptr<v1::Admin::Stub> admin_;
  const std::unique_ptr<v1::Profiles::Stub> profiles_;
  Peer leader_;  // that answered last
};

}  // namespace

absl::StatusOr<std::unique_ptr<PlanningClient>> PlanningClient::Connect(
    const std::string& address, const base::ChannelSecurity& security,
    absl::Duration timeout) {
  base::SilenceGrpc();
  ASSIGN_OR_RETURN(const std::shared_ptr<grpc::Channel> channel,
                   base::OpenChannel(address, security));
  switch (AwaitReady(*channel, timeout)) {
    case Reached::kReady:
      break;
    case Reached::kRefused:
      return absl::UnavailableError(absl::StrCat(
          "no coordinator answers at ", address,
          security.uses_tls()
              ? " over TLS; check the address, that --ca signed its "
                "certificate and that this names the host, and whether it asks "
                "for --cert"
              : "; start one with \"meshwright up\", check the address, or "
                "give --ca if it asks for TLS"));
    case Reached::kSilent:
      return absl::UnavailableError(absl::StrCat(
          "nothing was heard from ", address, " in ",
          absl::FormatDuration(timeout),
          "; the coordinator there is stopped or overloaded, or the address is "
          "another's"));
  }
  return std::make_unique<GrpcPlanningClient>(address, security, channel);
}

}  // namespace meshwright::client
