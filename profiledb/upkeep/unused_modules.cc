#include "profiledb/upkeep/unused_modules.h"

#include <chrono>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "base/status_macros.h"
#include "profiledb/store/plan_pages.h"

namespace meshwright::store {
namespace {

absl::Status LeaveThoseOfPlans(PlanStore& plans,
                               std::vector<ProgramUse>& modules) {
  absl::flat_hash_set<std::string> named;
  RETURN_IF_ERROR(
      ForEachPlan(plans, {}, [&](PlanId, const v1::PlanRecord& record) {
        named.insert(record.module_sha256());
        return absl::OkStatus();
      }));
  std::erase_if(modules,
                [&](const ProgramUse& it) { return named.contains(it.key); });
  return absl::OkStatus();
}

}  // namespace

absl::Status RemoveUnusedModules(PlanStore& plans, ProfileStore& profiles,
                                 const ModuleAge& age, Nanoseconds now,
                                 v1::GcReport& report) {
  const int64_t today =
      std::chrono::floor<std::chrono::days>(now).time_since_epoch().count();
  ASSIGN_OR_RETURN(std::vector<ProgramUse> modules,
                   profiles.ListUnusedPrograms(today - age.maximum_days));
  if (modules.empty()) return absl::OkStatus();
  // After the modules: one is put, and used, before its plan is submitted.
  RETURN_IF_ERROR(LeaveThoseOfPlans(plans, modules));
  std::vector<UnusedProgram> going;
  for (const ProgramUse& it : modules) {
    going.push_back({.key = it.key, .last_used_day = it.last_used_day});
    report.set_module_bytes(report.module_bytes() + it.bytes);
  }
  report.set_modules(static_cast<int64_t>(going.size()));
  if (age.dry_run || going.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const int64_t removed, profiles.RemovePrograms(going));
  report.set_modules(removed);
  return absl::OkStatus();
}

}  // namespace meshwright::store
