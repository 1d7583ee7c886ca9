// ExplainPlan: the time that each choice of a plan saves, from a store.
//
// In -> Out: a plan, its model, the device of its measurements, a store -> one
// PlanChoice per choice. In a plan with stages a choice is compared within its
// stage (explain_stages.h). The pipeline is then simulated with the other work
// of that stage for the effect on the whole step.
// Errors: those of recall.h and of the search.
#ifndef MESHWRIGHT_COORDINATOR_EXPLAIN_EXPLAIN_PLAN_H_
#define MESHWRIGHT_COORDINATOR_EXPLAIN_EXPLAIN_PLAN_H_

#include <chrono>
#include <string>

#include "absl/status/statusor.h"
#include "planner/search/search.h"
#include "profiledb/store/profile_store.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::explain {

// For all searches of an explanation together, where somebody waits for it.
inline constexpr std::chrono::seconds kExplanationTime(10);

absl::StatusOr<v1::PlanExplanation> ExplainPlan(const v1::Plan& plan,
                                                std::string hlo_module,
                                                store::ProfileStore* store,
                                                const search::Options& options);

}  // namespace meshwright::explain

#endif  // MESHWRIGHT_COORDINATOR_EXPLAIN_EXPLAIN_PLAN_H_
