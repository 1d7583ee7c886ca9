// PlanQuestions: what may be asked of a plan that is done, handed to the
// service as plan_function.h is.
//
// Concept: the answers come from the plan and the store. Only `validate` and
// `remeasure` have anything measured, by the measurer of their call.
// Threads: any number of calls at once.
// Errors: those of explain::ExplainPlan, explain::AnswerWhatIf,
// launch::ExportPlan,
// validation::ValidatePlan and validation::RemeasurePlan. kNotFound for a store
// that lacks the model or measurements, kInvalidArgument for a mesh that does
// not fit.
#ifndef MESHWRIGHT_COORDINATOR_PLANS_PLAN_QUESTIONS_H_
#define MESHWRIGHT_COORDINATOR_PLANS_PLAN_QUESTIONS_H_

#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/file.h"
#include "coordinator/jobs/measurer.h"
#include "coordinator/jobs/queue_measurer.h"
#include "proto/v1/plan.pb.h"
#include "proto/v1/plan_record.pb.h"
#include "proto/v1/plans.pb.h"
#include "proto/v1/profiles.pb.h"
#include "proto/v1/reports.pb.h"

namespace meshwright::plans {

// Empty ones are not implemented.
struct PlanQuestions {
  // The time that each choice saves (coordinator/explain/explain_plan.h).
  std::function<absl::StatusOr<v1::PlanExplanation>(const v1::Plan& plan)>
      explain;
  // How two plans differ (coordinator/explain/difference.h).
  std::function<v1::PlanDifference(const v1::Plan& a, const v1::Plan& b)> diff;
  // The plan for another limit or mesh (coordinator/explain/what_if.h).
  std::function<absl::StatusOr<v1::Plan>(const v1::Plan& plan,
                                         const v1::WhatIfChange& change)>
      what_if;
  // What a launcher runs it from (coordinator/launch/export_plan.h).
  std::function<absl::StatusOr<std::vector<base::NamedFile>>(
      const v1::Plan& plan)>
      export_plan;
  // The plan run for real (coordinator/validation/validate_plan.h; with stages
  // validate_staged_plan.h). Events come from one thread at a time, before it
  // returns.
  std::function<absl::Status(
      const v1::PlanRecord& plan, const v1::ValidatePlanRequest& request,
      jobs::QueueMeasurer* measurer,
      const std::function<void(const v1::ValidatePlanEvent&)>& on_event)>
      validate;
  // Its rows once more (coordinator/validation/remeasure_plan.h).
  std::function<absl::StatusOr<v1::RemeasureReport>(
      const v1::PlanRecord& plan, const v1::RemeasureRequest& request,
      jobs::Measurer* measurer, const jobs::ProgressFunction& progress)>
      remeasure;
};

}  // namespace meshwright::plans

#endif  // MESHWRIGHT_COORDINATOR_PLANS_PLAN_QUESTIONS_H_
