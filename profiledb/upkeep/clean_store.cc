#include "profiledb/upkeep/clean_store.h"

#include <string>

#include "base/status_macros.h"
#include "profiledb/store/check_row.h"
#include "profiledb/upkeep/garbage.h"
#include "profiledb/upkeep/old_plans.h"
#include "profiledb/upkeep/plan_needs.h"
#include "profiledb/upkeep/unused_modules.h"

namespace meshwright::store {
namespace {

absl::Status CheckLimits(const v1::GcLimits& limits) {
  if (!limits.has_max_age_days() && !limits.has_max_unused_days() &&
      !limits.has_max_plan_days() && !limits.has_max_bytes()) {
    return absl::InvalidArgumentError(
        "gc needs a limit: --max-age-days, --max-unused-days, --max-size or "
        "--max-plan-days");
  }
  if (limits.max_age_days() < 0 || limits.max_unused_days() < 0 ||
      limits.max_plan_days() < 0 || limits.max_bytes() < 0) {
    return absl::InvalidArgumentError(
        "a limit of gc is negative; give days and bytes of at least 0");
  }
  for (const std::string& key : limits.keep()) RETURN_IF_ERROR(CheckKey(key));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<v1::GcReport> CleanStore(ProfileStore& profiles,
                                        PlanStore& plans,
                                        const v1::GcLimits& limits,
                                        Nanoseconds now) {
  RETURN_IF_ERROR(CheckLimits(limits));
  v1::GcReport of_plans;
  if (limits.has_max_plan_days()) {
    RETURN_IF_ERROR(RemoveOldPlans(
        plans, profiles,
        {.maximum_days = limits.max_plan_days(), .dry_run = limits.dry_run()},
        now, of_plans));
  }
  GarbageLimits rows{.keep = {limits.keep().begin(), limits.keep().end()},
                     .dry_run = limits.dry_run()};
  if (limits.has_max_age_days()) rows.maximum_age_days = limits.max_age_days();
  if (limits.has_max_unused_days()) {
    rows.maximum_unused_days = limits.max_unused_days();
  }
  if (limits.has_max_bytes()) rows.maximum_bytes = limits.max_bytes();
  ASSIGN_OR_RETURN(rows.plans, FindPlanNeeds(plans));
  ASSIGN_OR_RETURN(v1::GcReport report, CollectGarbage(profiles, rows, now));
  report.MergeFrom(of_plans);
  if (limits.has_max_unused_days()) {
    RETURN_IF_ERROR(RemoveUnusedModules(
        plans, profiles,
        {.maximum_days = limits.max_unused_days(), .dry_run = limits.dry_run()},
        now, report));
  }
  return report;
}

}  // namespace meshwright::store
