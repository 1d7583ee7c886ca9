#include "cli/local/cluster.h"

#include <chrono>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "coordinator/explain/difference.h"
#include "coordinator/explain/explain_plan.h"
#include "coordinator/explain/recall.h"
#include "coordinator/explain/what_if.h"
#include "coordinator/planning/coverage.h"
#include "coordinator/planning/plan_metadata.h"
#include "coordinator/planning/plan_pipeline.h"
#include "coordinator/stages/staged_plan.h"
#include "coordinator/validation/remeasure_plan.h"
#include "coordinator/validation/validate_plan.h"
#include "coordinator/validation/validate_staged_plan.h"
#include "worker/sandbox/private_folder.h"
#include "worker/service/runner_batches.h"

namespace meshwright::cli {

using worker::sandbox::PrivateFolder;

plans::PlanFunction MakePlanFunction(store::ProfileStore* store) {
  return [store](const v1::PlanRequest& request, jobs::Measurer* measurer,
                 const jobs::ProgressFunction& progress) {
    return request.has_stages()
               ? stages::MakeStagedPlan(request, {store, measurer}, progress)
               : planning::MakePlan(request, {store, measurer}, progress);
  };
}

plans::CoverageFunction MakeCoverageFunction(store::ProfileStore* store) {
  return [store](const v1::PlanRequest& request, jobs::Measurer* measurer) {
    return planning::CoverPlan(request, {store, measurer});
  };
}

namespace {

// A run of so many takes hours.
constexpr int kMaximumRandomPlans = 1000;

absl::Status ValidateStagedRecord(
    const v1::PlanRecord& record, const v1::ValidatePlanRequest& request,
    store::ProfileStore* store, jobs::QueueMeasurer* measurer,
    const std::function<void(const v1::ValidatePlanEvent&)>& send) {
  if (request.random_plans() > 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        record.id(),
        " has stages, and random plans have none; leave them out"));
  }
  ASSIGN_OR_RETURN(const std::string model,
                   explain::RecallModel(record.plan(), store));
  v1::DeviceSpec device;
  device.set_platform(record.request().platform());
  device.set_plugin_path(record.request().plugin_path());
  v1::DeviceFingerprint here;
  const auto run = [&](const v1::RunnerRequest& asked)
      -> absl::StatusOr<validation::StagedResults> {
    ASSIGN_OR_RETURN(const jobs::DeviceDescription described,
                     measurer->Describe(asked.device()));
    here = described.fingerprint;
    validation::StagedResults results;
    v1::ValidatePlanEvent event;
    event.mutable_progress()->set_phase("measure");
    event.mutable_progress()->set_total(asked.programs_size());
    RETURN_IF_ERROR(measurer->RunSequence(
        asked,
        [&](const v1::ProfileResult& result) {
          results.modules[result.key()] = result;
          event.mutable_progress()->set_done(std::ssize(results.modules));
          send(event);
          return absl::OkStatus();
        },
        [&](const v1::RunnerEvent::Compared& compared) {
          const auto& all = compared.relative_differences();
          results.differences.assign(all.begin(), all.end());
        }));
    return results;
  };
  return validation::ValidateStagedPlan(
      model, record.plan(), device, store,
      {.run = run,
       .describe = [&]() -> absl::StatusOr<v1::DeviceFingerprint> {
         return here;
       },
       .note =
           [&](const std::string& note) {
             v1::ValidatePlanEvent event;
             event.set_note(note);
             send(event);
           },
       .report =
           [&](const v1::StagedValidationReport& report) {
             v1::ValidatePlanEvent event;
             *event.mutable_staged_report() = report;
             send(event);
           }});
}

absl::Status ValidateRecord(
    const v1::PlanRecord& record, const v1::ValidatePlanRequest& request,
    store::ProfileStore* store, jobs::QueueMeasurer* measurer,
    const std::function<void(const v1::ValidatePlanEvent&)>& send) {
  const v1::Plan& plan = record.plan();
  if (plan.has_pipeline()) {
    return ValidateStagedRecord(record, request, store, measurer, send);
  }
  if (request.random_plans() < 0 ||
      request.random_plans() > kMaximumRandomPlans) {
    return absl::InvalidArgumentError(
        absl::StrCat("a validation adds 0 to ", kMaximumRandomPlans,
                     " random plans, not ", request.random_plans()));
  }
  validation::ValidationRequest asked;
  ASSIGN_OR_RETURN(asked.hlo_module, explain::RecallModel(plan, store));
  asked.model_name = plan.model().name();
  asked.plan = plan;
  asked.random_plans = request.random_plans();
  asked.seed = request.seed();
  asked.device.set_platform(record.request().platform());
  asked.device.set_plugin_path(record.request().plugin_path());
  return validation::ValidatePlan(asked, store, measurer,
                                  {.progress =
                                       [&](const v1::PlanProgress& progress) {
                                         v1::ValidatePlanEvent event;
                                         *event.mutable_progress() = progress;
                                         send(event);
                                       },
                                   .note =
                                       [&](const std::string& note) {
                                         v1::ValidatePlanEvent event;
                                         event.set_note(note);
                                         send(event);
                                       },
                                   .report =
                                       [&](const v1::ValidationReport& report) {
                                         v1::ValidatePlanEvent event;
                                         *event.mutable_report() = report;
                                         send(event);
                                       }});
}

}  // namespace

plans::PlanQuestions MakePlanQuestions(store::ProfileStore* store) {
  plans::PlanQuestions questions;
  questions.explain =
      [store](const v1::Plan& plan) -> absl::StatusOr<v1::PlanExplanation> {
    ASSIGN_OR_RETURN(std::string model, explain::RecallModel(plan, store));
    search::Options options;
    options.deadline.at =
        std::chrono::steady_clock::now() + explain::kExplanationTime;
    return explain::ExplainPlan(plan, std::move(model), store, options);
  };
  questions.diff = explain::ComparePlans;
  questions.what_if =
      [store](const v1::Plan& plan,
              const v1::WhatIfChange& change) -> absl::StatusOr<v1::Plan> {
    ASSIGN_OR_RETURN(std::string model, explain::RecallModel(plan, store));
    return explain::AnswerChange(plan, std::move(model), change, store);
  };
  questions.validate =
      [store](const v1::PlanRecord& plan,
              const v1::ValidatePlanRequest& request,
              jobs::QueueMeasurer* measurer,
              const std::function<void(const v1::ValidatePlanEvent&)>& send) {
        return ValidateRecord(plan, request, store, measurer, send);
      };
  questions.remeasure =
      [store](const v1::PlanRecord& record, const v1::RemeasureRequest& asked,
              jobs::Measurer* measurer, const jobs::ProgressFunction& progress)
      -> absl::StatusOr<v1::RemeasureReport> {
    const v1::Plan& plan = record.plan();
    ASSIGN_OR_RETURN(std::string model, explain::RecallModel(plan, store));
    v1::PlanRequest request = planning::RestoreRequest(plan, std::move(model));
    request.set_platform(record.request().platform());
    request.set_plugin_path(record.request().plugin_path());
    return validation::RemeasurePlan(plan, request, asked, {store, measurer},
                                     progress);
  };
  return questions;
}

absl::StatusOr<std::unique_ptr<LocalCluster>> LocalCluster::Start(
    Options options) {
  std::unique_ptr<LocalCluster> cluster(new LocalCluster);
  // Not in TMPDIR: the path of a socket has room for 107 characters.
  constexpr char kParent[] = "/tmp";
  constexpr char kPrefix[] = "meshwright-local-";
  PrivateFolder::Sweep(kParent, kPrefix);
  ASSIGN_OR_RETURN(cluster->folder_, PrivateFolder::Make(kParent, kPrefix));
  const std::string socket =
      absl::StrCat("unix:", cluster->folder_->path(), "/coordinator");
  daemon::Coordinator::Dependencies coordinator;
  coordinator.clock = options.clock;
  coordinator.profiles = options.store;
  if (!options.metrics_address.empty()) {
    cluster->figures_ = std::make_unique<metrics::Figures>();
    cluster->observed_ = std::make_unique<store::ObservedProfileStore>(
        options.store, cluster->figures_.get());
    coordinator.profiles = cluster->observed_.get();
    coordinator.figures = cluster->figures_.get();
    coordinator.metrics_address = options.metrics_address;
  }
  coordinator.plan = MakePlanFunction(coordinator.profiles);
  coordinator.cover = MakeCoverageFunction(coordinator.profiles);
  coordinator.questions = MakePlanQuestions(coordinator.profiles);
  coordinator.plans = options.plans;
  coordinator.store = options.store_path;
  coordinator.listen_address =
      options.listen_address.empty() ? socket : options.listen_address;
  if (!options.listen_address.empty()) coordinator.local_address = socket;
  // Alone with its only worker, a command fails rather than wait for it.
  if (options.listen_address.empty()) {
    coordinator.queue.standings.barren_batches = 0;
  }
  coordinator.shares_store = options.shares_store;
  coordinator.advertised_address = options.advertised_address;
  coordinator.security = options.security;
  coordinator.audit = options.audit;
  coordinator.alive = std::move(options.alive);
  cluster->coordinator_ =
      std::make_unique<daemon::Coordinator>(std::move(coordinator));
  RETURN_IF_ERROR(cluster->coordinator_->Start());
  if (!options.has_worker) return cluster;
  // A worker of its own has this coordinator's token and goes nowhere else.
  RETURN_IF_ERROR(cluster->coordinator_->AwaitLeadership());

  worker::Worker::Dependencies worker;
  // The own worker needs no certificate and no person's token.
  worker.coordinator_address = socket;
  ASSIGN_OR_RETURN(worker.security.token,
                   cluster->coordinator_->NewLocalToken(security::Role::kWork));
  worker.name = worker::MakeWorkerName();
  worker.host = worker::ReadHostName();
  worker.devices = options.devices;
  worker.run_batch = options.run_batch ? std::move(options.run_batch)
                                       : worker::RunnerBatches();
  worker.find_fault = worker::FindRunnerFault;
  cluster->worker_ = std::make_unique<worker::Worker>(std::move(worker));
  RETURN_IF_ERROR(cluster->worker_->Start());
  RETURN_IF_ERROR(cluster->coordinator_->queue()
                      .FindWorker(v1::DeviceSpec(options.devices), {})
                      .status());
  return cluster;
}

LocalCluster::~LocalCluster() {
  if (worker_ != nullptr) worker_->Stop();
  if (coordinator_ != nullptr) coordinator_->Stop();
}

}  // namespace meshwright::cli
