// Which plans a caller may see and end.
//
// Concept: a coordinator without tokens shows everyone everything. With them a
// caller submits as itself, with a priority of 0 at most, and into the
// namespace of its token. It sees the plans of that namespace and the shared
// ones, and ends its own. An administrator sees and ends all. Threads: pure
// functions. Errors: kNotFound for a plan of another namespace, as if there
// were none; kPermissionDenied for one to end that is somebody else's.
#ifndef MESHWRIGHT_COORDINATOR_SERVICE_PLAN_ACCESS_H_
#define MESHWRIGHT_COORDINATOR_SERVICE_PLAN_ACCESS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/jobs/job_queue.h"
#include "coordinator/plans/plan_runner.h"
#include "coordinator/security/guard.h"
#include "profiledb/store/plan_store.h"
#include "proto/v1/plans.pb.h"

namespace meshwright::service {

// As the caller. `peer` names one of whom nothing is known and who names no
// owner.
v1::SubmitPlanRequest SubmitAs(const security::Caller& caller,
                               const std::string& peer,
                               const v1::SubmitPlanRequest& request);

// What a caller's modules and plans count for, unless it names another.
std::string FindNamespace(const security::Caller& caller);

// Whose programs are measured for a caller that has no plan: it is charged, as
// for a plan of priority 0 that it submits.
jobs::JobOrigin OriginOf(const security::Caller& caller,
                         const std::string& peer);
// The same of a caller who asks about a plan that is done. Whoever may do all
// asks as the plan's owner would, with its priority.
jobs::JobOrigin OriginOf(const security::Caller& caller,
                         const std::string& peer, const v1::PlanRecord& plan);

// The namespaces whose plans a list has for a caller that asks for those of
// `team` (empty: all): none named means all. Nothing: it may see none of them.
std::optional<std::vector<std::string>> SelectNamespaces(
    const security::Caller& caller, const std::string& team);

// The page of the plans that the caller may see, the newest first and without
// their plans. It ends early where it would be too large for a message. Errors:
// those of PlanStore::List and store::ParsePlanId; kInvalidArgument for a state
// that is none of a plan.
absl::StatusOr<v1::ListPlansResponse> ListPlans(
    store::PlanStore& plans, const security::Caller& caller,
    const v1::ListPlansRequest& request);

// The namespace whose rows a caller reads that asks for those of `team` (empty:
// its own). kPermissionDenied for another's.
absl::StatusOr<std::string> FindReadNamespace(const security::Caller& caller,
                                              const std::string& team);

// Of the namespace that a plan is submitted into; empty: of the shared pool.
plans::PlanQuota FindPlanQuota(const security::Guard& guard,
                               const std::string& name_space);

absl::Status CheckMaySee(const security::Caller& caller,
                         const v1::PlanRecord& record);
absl::Status CheckMayEnd(const security::Caller& caller,
                         const v1::PlanRecord& record);

// The plan with this id, which the caller may see. Errors also: those of
// store::ParsePlanId, PlanStore::Get and Guard::Identify.
absl::StatusOr<v1::PlanRecord> FindSeenPlan(const security::Guard& guard,
                                            store::PlanStore& plans,
                                            const security::Call& call,
                                            const std::string& id);
// The same of one that is done; kFailedPrecondition for another.
absl::StatusOr<v1::PlanRecord> FindDonePlan(const security::Guard& guard,
                                            store::PlanStore& plans,
                                            const security::Call& call,
                                            const std::string& id);

}  // namespace meshwright::service

#endif  // MESHWRIGHT_COORDINATOR_SERVICE_PLAN_ACCESS_H_
