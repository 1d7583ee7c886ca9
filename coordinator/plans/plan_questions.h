// PlanQuestions: what may be asked of a plan that is done, handed to the
// service as plan_function.h is.
//
// Concept: the answers come from the plan and the store; nothing is measured.
// Threads: any number of calls at once.
// Errors: those of explain::ExplainPlan and explain::AnswerWhatIf: kNotFound
// for a store that lacks the model or measurements, kInvalidArgument for a mesh
// that does not fit.
#ifndef MESHWRIGHT_COORDINATOR_PLANS_PLAN_QUESTIONS_H_
#define MESHWRIGHT_COORDINATOR_PLANS_PLAN_QUESTIONS_H_

#include <functional>

#include "absl/status/statusor.h"
#include "proto/v1/plan.pb.h"
#include "proto/v1/reports.pb.h"

namespace meshwright::plans {

// Empty ones are not implemented.
struct PlanQuestions {
  // What each choice saves (coordinator/explain/explain_plan.h).
  std::function<absl::StatusOr<v1::PlanExplanation>(const v1::Plan& plan)>
      explain;
  // How two plans differ (coordinator/explain/difference.h).
  std::function<v1::PlanDifference(const v1::Plan& a, const v1::Plan& b)> diff;
  // The plan for another limit or mesh (coordinator/explain/what_if.h).
  std::function<absl::StatusOr<v1::Plan>(const v1::Plan& plan,
                                         const v1::WhatIfChange& change)>
      what_if;
};

}  // namespace meshwright::plans

#endif  // MESHWRIGHT_COORDINATOR_PLANS_PLAN_QUESTIONS_H_
