#include "coordinator/service/quota_report.h"

#include <map>
#include <set>
#include <string>

#include "base/status_macros.h"
#include "profiledb/store/plan_limits.h"
#include "profiledb/store/plan_pages.h"
#include "profiledb/store/plan_updates.h"

namespace meshwright::service {
absl::StatusOr<v1::ListQuotasResponse> ReportQuotas(
    const std::vector<security::Quota>& quotas, store::PlanStore& plans,
    store::UnclaimedModules& unclaimed) {
  std::map<std::string, v1::NamespaceQuota> by_name;
  for (const security::Quota& quota : quotas) {
    v1::NamespaceQuota& it = by_name[quota.name_space];
    if (quota.plans) it.set_max_plans(*quota.plans);
    if (quota.module_bytes) it.set_max_module_bytes(*quota.module_bytes);
    if (quota.stored_bytes) it.set_max_stored_bytes(*quota.stored_bytes);
    if (quota.programs) it.set_max_programs(*quota.programs);
  }
  std::map<std::string, std::set<std::string>> modules;
  RETURN_IF_ERROR(store::ForEachPlan(
      plans, {}, [&](store::PlanId, const v1::PlanRecord& record) {
        v1::NamespaceQuota& it = by_name[record.namespace_()];
        it.set_stored_bytes(it.stored_bytes() +
                            store::CountRequestBytes(record));
        if (modules[record.namespace_()]
                .insert(record.module_sha256())
                .second) {
          it.set_stored_bytes(it.stored_bytes() + record.module_bytes());
        }
        if (store::HasEnded(record.state())) return absl::OkStatus();
        it.set_plans(it.plans() + 1);
        it.set_module_bytes(it.module_bytes() + record.module_bytes());
        return absl::OkStatus();
      }));
  v1::ListQuotasResponse response;
  for (auto& [name, quota] : by_name) {
    quota.set_namespace_(name);
    quota.set_stored_bytes(quota.stored_bytes() + unclaimed.CountBytes(name));
    *response.add_namespaces() = quota;
  }
  return response;
}

}  // namespace meshwright::service
