// PlanningClient: a coordinator as launchers and the command line see it.
//
// Concept: of several coordinators over one store any may be asked. A call that
// only the leader answers is sent once more, to the leader that the refusal
// names. So is one that a follower answers from the rows of the store alone.
// Where nothing answers there, the first answer holds. Later calls go to that
// leader first, until it leaves one without an answer.
// Threads: one call at a time per client; a stop token from any thread ends
// the call with kCancelled.
// Errors: what the coordinator answered; kUnavailable, in one sentence with
// the address, where none answers there; kInternal for an answer without an
// end.
#ifndef MESHWRIGHT_COORDINATOR_CLIENT_PLANNING_CLIENT_H_
#define MESHWRIGHT_COORDINATOR_CLIENT_PLANNING_CLIENT_H_

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/file.h"
#include "base/rpc/channel_security.h"
#include "coordinator/jobs/measurer.h"
#include "proto/v1/admin.pb.h"
#include "proto/v1/plan.pb.h"
#include "proto/v1/plans.pb.h"
#include "proto/v1/profile.pb.h"
#include "proto/v1/profiles.pb.h"
#include "proto/v1/reports.pb.h"
#include "proto/v1/resharding.pb.h"
#include "proto/v1/services.pb.h"

namespace meshwright::client {

class PlanningClient {
 public:
  using OnUpdate = std::function<void(const v1::PlanUpdate&)>;
  using OnCompare = std::function<void(const v1::CompareEvent&)>;
  using OnValidate = std::function<void(const v1::ValidatePlanEvent&)>;

  // Waits up to `timeout` for the coordinator to answer at `address`.
  static absl::StatusOr<std::unique_ptr<PlanningClient>> Connect(
      const std::string& address, absl::Duration timeout = absl::Seconds(5)) {
    return Connect(address, base::ChannelSecurity(), timeout);
  }
  // Errors, beside: those of base::OpenChannel.
  static absl::StatusOr<std::unique_ptr<PlanningClient>> Connect(
      const std::string& address, const base::ChannelSecurity& security,
      absl::Duration timeout = absl::Seconds(5));

  virtual ~PlanningClient() = default;

  // Submits the plan and watches it to its end; the plan goes on if the caller
  // leaves. Errors: the reason of a plan that failed or was cancelled, too.
  virtual absl::StatusOr<v1::Plan> MakePlan(
      const v1::PlanRequest& request, const jobs::ProgressFunction& on_progress,
      const std::stop_token& stop) = 0;
  // Returns after the last event. `on_event` is called on this thread.
  virtual absl::Status Compare(const v1::CompareRequest& request,
                               const OnCompare& on_event,
                               const std::stop_token& stop) = 0;
  // Waits `patience` beyond the request's deadline_seconds; without such a
  // deadline, until `stop`.
  virtual absl::StatusOr<v1::ReshardingAnswer> PlanResharding(
      const v1::ReshardingRequest& request, const std::stop_token& stop,
      absl::Duration patience = absl::Seconds(30)) = 0;

  // A module that the coordinator does not have is put first.
  virtual absl::StatusOr<v1::PlanRecord> SubmitPlan(
      const v1::SubmitPlanRequest& request) = 0;
  // kNotFound for an id that the caller's namespace does not have, here and
  // below.
  virtual absl::StatusOr<v1::PlanRecord> GetPlan(const std::string& id) = 0;
  // Newest first, without their plans; empty where none matches.
  virtual absl::StatusOr<v1::ListPlansResponse> ListPlans(
      const v1::ListPlansRequest& request) = 0;
  // Returns when the plan has ended, or with kCancelled after a stop.
  virtual absl::Status WatchPlan(const v1::WatchPlanRequest& request,
                                 const OnUpdate& on_update,
                                 const std::stop_token& stop) = 0;
  // Its state after it; a plan that had ended is left as it is.
  virtual absl::StatusOr<v1::PlanRecord> CancelPlan(const std::string& id) = 0;
  // Of plans that are done, by id.
  virtual absl::StatusOr<v1::PlanExplanation> ExplainPlan(
      const std::string& id) = 0;
  // From plan `a` to plan `b`. kFailedPrecondition for one that is not done.
  virtual absl::StatusOr<v1::PlanDifference> DiffPlans(
      const std::string& a, const std::string& b) = 0;
  // From the plan and the store, nothing is measured. Errors: those of
  // explain::AnswerWhatIf, kFailedPrecondition for a plan that is not done.
  virtual absl::StatusOr<v1::Plan> AskWhatIf(
      const std::string& id, const v1::WhatIfChange& change) = 0;
  // What a launcher runs a plan that is done from: module.hlo.pb, or the files
  // of a launch. Errors also: launch::ExportPlan.
  virtual absl::StatusOr<std::vector<base::NamedFile>> ExportPlan(
      const std::string& id, const std::stop_token& stop) = 0;
  // Returns after the report, or with kCancelled after a stop.
  virtual absl::Status ValidatePlan(const v1::ValidatePlanRequest& request,
                                    const OnValidate& on_event,
                                    const std::stop_token& stop) = 0;

  // A module that the coordinator does not have is put first.
  virtual absl::StatusOr<v1::CoverageReport> CoverPlan(
      const v1::PlanRequest& request) = 0;

  using OnProgress = std::function<void(const v1::PlanProgress&)>;
  // Of a plan that is done, by id.
  virtual absl::StatusOr<v1::RemeasureReport> RemeasurePlan(
      const v1::RemeasureRequest& request, const OnProgress& on_progress,
      const std::stop_token& stop) = 0;

  using OnData = std::function<absl::Status(const std::string&)>;
  using NextData = std::function<absl::StatusOr<std::string>()>;
  // A file of measurements piece by piece, of one namespace or of all (empty).
  // An error of `on_data` ends the export, and is the answer.
  virtual absl::StatusOr<v1::ExportReport> ExportProfiles(
      const std::string& team, const OnData& on_data,
      const std::stop_token& stop) = 0;
  // `next` gives pieces of at most 1 MiB, then an empty one; its error ends the
  // import, and is the answer.
  virtual absl::StatusOr<v1::ImportReport> ImportProfiles(
      const std::string& team, const NextData& next,
      const std::stop_token& stop) = 0;

  // The summaries of rows, without the hosts that they come from; unknown keys
  // are left out. kInvalidArgument for more than 1000 keys.
  virtual absl::StatusOr<v1::LookUpResponse> LookUpRows(
      const v1::LookUpRequest& request) = 0;

  // Jobs that are done first. Those of other teams are without owner and plan.
  virtual absl::StatusOr<v1::ListJobsResponse> ListJobs() = 0;
  // The attached ones. Without a state where no leader answers.
  virtual absl::StatusOr<v1::ListWorkersResponse> ListWorkers() = 0;

  // ---- administrators
  // Errors of all these: kPermissionDenied for a caller who is no
  // administrator, kNotFound for an unknown job or worker.
  virtual absl::StatusOr<v1::JobDetails> GetJob(
      const v1::JobRequest& request) = 0;
  // The plan that waits for it fails. kFailedPrecondition for a job that is
  // over, here and for RetryJob.
  virtual absl::StatusOr<v1::JobSummary> CancelJob(
      const v1::JobRequest& request) = 0;
  // The programs that it failed at are tried at once.
  virtual absl::StatusOr<v1::JobSummary> RetryJob(
      const v1::JobRequest& request) = 0;
  // Gives it no more leases until it is resumed; the one at hand ends.
  virtual absl::StatusOr<v1::WorkerSummary> DrainWorker(
      const v1::WorkerRequest& request) = 0;
  // The same, and takes its lease back.
  virtual absl::StatusOr<v1::WorkerSummary> QuarantineWorker(
      const v1::WorkerRequest& request) = 0;
  // It is trusted, and gets leases again.
  virtual absl::StatusOr<v1::WorkerSummary> ResumeWorker(
      const v1::WorkerRequest& request) = 0;

  // Of the coordinator's store; errors also those of the store.
  virtual absl::StatusOr<v1::StoreReport> DescribeStore() = 0;
  virtual absl::StatusOr<v1::QuarantineReport> ListQuarantine() = 0;
  virtual absl::StatusOr<v1::VerifyReport> VerifyStore() = 0;
  // kNotFound for a key that is not in quarantine.
  virtual absl::Status RetryQuarantined(const std::string& key) = 0;
  virtual absl::StatusOr<v1::GcReport> CollectGarbage(
      const v1::GcLimits& limits) = 0;
  // A store of SQLite piece by piece. An error of `on_data` ends the backup,
  // and is the answer. kUnimplemented for a store in memory.
  virtual absl::StatusOr<v1::BackupReport> BackUpStore(
      const OnData& on_data, const std::stop_token& stop) = 0;
  virtual absl::StatusOr<v1::ListQuotasResponse> ListQuotas() = 0;
};

}  // namespace meshwright::client

#endif  // MESHWRIGHT_COORDINATOR_CLIENT_PLANNING_CLIENT_H_
