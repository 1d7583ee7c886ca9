#include "coordinator/answers/answers.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/deadline.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "coordinator/explain/difference.h"
#include "coordinator/explain/explain_plan.h"
#include "coordinator/explain/recall.h"
#include "coordinator/explain/what_if.h"
#include "coordinator/launch/export_plan.h"
#include "coordinator/planning/coverage.h"
#include "coordinator/planning/plan_metadata.h"
#include "coordinator/planning/plan_pipeline.h"
#include "coordinator/stages/staged_plan.h"
#include "coordinator/validation/remeasure_plan.h"
#include "coordinator/validation/validate_plan.h"
#include "coordinator/validation/validate_staged_plan.h"

namespace meshwright::answers {

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

using Send = std::function<void(const v1::ValidatePlanEvent&)>;

std::function<void(const std::string&)> SendNotes(const Send& send) {
  return [&send](const std::string& note) {
    v1::ValidatePlanEvent event;
    event.set_note(note);
    send(event);
  };
}

absl::Status ValidateStagedRecord(const v1::PlanRecord& record,
                                  const v1::ValidatePlanRequest& request,
                                  store::ProfileStore* store,
                                  jobs::QueueMeasurer* measurer,
                                  const Send& send) {
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
       .note = SendNotes(send),
       .report =
           [&](const v1::StagedValidationReport& report) {
             v1::ValidatePlanEvent event;
             *event.mutable_staged_report() = report;
             send(event);
           }});
}

absl::Status ValidateRecord(const v1::PlanRecord& record,
                            const v1::ValidatePlanRequest& request,
                            store::ProfileStore* store,
                            jobs::QueueMeasurer* measurer, const Send& send) {
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
                                   .note = SendNotes(send),
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
    options.deadline = base::Deadline::After(explain::kExplanationTime);
    return explain::ExplainPlan(plan, std::move(model), store, options);
  };
  questions.diff = explain::ComparePlans;
  questions.what_if =
      [store](const v1::Plan& plan,
              const v1::WhatIfChange& change) -> absl::StatusOr<v1::Plan> {
    ASSIGN_OR_RETURN(std::string model, explain::RecallModel(plan, store));
    return explain::AnswerChange(plan, std::move(model), change, store);
  };
  questions.export_plan = [store](const v1::Plan& plan)
      -> absl::StatusOr<std::vector<base::NamedFile>> {
    ASSIGN_OR_RETURN(const std::string model,
                     explain::RecallModel(plan, store));
    return launch::ExportPlan(model, plan);
  };
  questions.validate = [store](const v1::PlanRecord& plan,
                               const v1::ValidatePlanRequest& request,
                               jobs::QueueMeasurer* measurer,
                               const Send& send) {
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

}  // namespace meshwright::answers
