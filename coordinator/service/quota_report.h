// ReportQuotas: what the plans of each namespace take, beside what they may.
//
// Concept: the namespaces that have a quota or a plan, by name. Threads: any.
// Errors: those of the store.
#ifndef MESHWRIGHT_COORDINATOR_SERVICE_QUOTA_REPORT_H_
#define MESHWRIGHT_COORDINATOR_SERVICE_QUOTA_REPORT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/security/quota.h"
#include "profiledb/store/plan_store.h"
#include "profiledb/store/unclaimed_modules.h"
#include "proto/v1/admin.pb.h"

namespace meshwright::service {

// `unclaimed`: modules that were put for no plan yet, which count as stored.
absl::StatusOr<v1::ListQuotasResponse> ReportQuotas(
    const std::vector<security::Quota>& quotas, store::PlanStore& plans,
    store::UnclaimedModules& unclaimed);

}  // namespace meshwright::service

#endif  // MESHWRIGHT_COORDINATOR_SERVICE_QUOTA_REPORT_H_
