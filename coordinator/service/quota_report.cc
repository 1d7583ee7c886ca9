#include "coordinator/service/quota_report.h"

#include <map>
#include <string>

#include "base/status_macros.h"
#include "profiledb/store/plan_updates.h"

namespace meshwright::service {
namespace {

constexpr int kPage = 1000;

const std::vector<v1::PlanState>& UnfinishedStates() {
  static const auto* const states = [] {
    auto* const all = new std::vector<v1::PlanState>;
    for (int number = v1::PlanState_MIN; number <= v1::PlanState_MAX;
         ++number) {
      const auto state = static_cast<v1::PlanState>(number);
      if (state != v1::PLAN_STATE_UNSPECIFIED && !store::HasEnded(state)) {
        all->push_back(state);
      }
    }
    return all;
  }();
  return *states;
}

}  // namespace

absl::StatusOr<v1::ListQuotasResponse> ReportQuotas(
    const std::vector<security::Quota>& quotas, store::PlanStore& plans) {
  std::map<std::string, v1::NamespaceQuota> by_name;
  for (const security::Quota& quota : quotas) {
    v1::NamespaceQuota& it = by_name[quota.name_space];
    if (quota.plans) it.set_max_plans(*quota.plans);
    if (quota.module_bytes) it.set_max_module_bytes(*quota.module_bytes);
    if (quota.programs) it.set_max_programs(*quota.programs);
  }
  store::PlanFilter filter{.states = UnfinishedStates(), .limit = kPage};
  while (true) {
    ASSIGN_OR_RETURN(const auto page, plans.List(filter));
    for (const v1::PlanRecord& record : page) {
      v1::NamespaceQuota& it = by_name[record.namespace_()];
      it.set_plans(it.plans() + 1);
      it.set_module_bytes(it.module_bytes() + record.module_bytes());
    }
    if (std::ssize(page) < kPage) break;
    ASSIGN_OR_RETURN(filter.before, store::ParsePlanId(page.back().id()));
  }
  v1::ListQuotasResponse response;
  for (auto& [name, quota] : by_name) {
    quota.set_namespace_(name);
    *response.add_namespaces() = quota;
  }
  return response;
}

}  // namespace meshwright::service
