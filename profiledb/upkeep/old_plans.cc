#include "profiledb/upkeep/old_plans.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "base/status_macros.h"
#include "profiledb/store/plan_pages.h"
#include "profiledb/store/plan_updates.h"

namespace meshwright::store {
namespace {

constexpr int kPlansAtOnce = 1000;

struct Division {
  std::vector<PlanId> going;
  std::set<std::string> models_going;  // SHA-256 of the modules
  std::set<std::string> models_left;
  int64_t left = 0;
};

absl::StatusOr<Division> Divide(PlanStore& plans, Nanoseconds oldest) {
  Division division;
  RETURN_IF_ERROR(
      ForEachPlan(plans, {}, [&](PlanId id, const v1::PlanRecord& record) {
        if (HasEnded(record.state()) &&
            record.updated_unix_ns() < oldest.time_since_epoch().count()) {
          division.going.push_back(id);
          division.models_going.insert(record.module_sha256());
        } else {
          ++division.left;
          division.models_left.insert(record.module_sha256());
        }
        return absl::OkStatus();
      }));
  return division;
}

// Of the modules that no row names: the day of the last use.
absl::StatusOr<std::map<std::string, int64_t>> ReadLastUses(
    ProfileStore& profiles) {
  constexpr int64_t kAnyDay = std::numeric_limits<int64_t>::max();
  ASSIGN_OR_RETURN(const std::vector<ProgramUse> programs,
                   profiles.ListUnusedPrograms(kAnyDay));
  std::map<std::string, int64_t> days;
  for (const ProgramUse& it : programs) days[it.key] = it.last_used_day;
  return days;
}

}  // namespace

absl::Status RemoveOldPlans(PlanStore& plans, ProfileStore& profiles,
                            const PlanAge& age, Nanoseconds now,
                            v1::GcReport& report) {
  // No plan is older than the clock; a longer time has no nanoseconds.
  const int64_t days = std::min<int64_t>(
      age.maximum_days,
      std::chrono::ceil<std::chrono::days>(now).time_since_epoch().count());
  const Nanoseconds oldest = now - std::chrono::days(days);
  ASSIGN_OR_RETURN(const Division division, Divide(plans, oldest));
  std::vector<std::string> models;
  std::set_difference(division.models_going.begin(),
                      division.models_going.end(), division.models_left.begin(),
                      division.models_left.end(), std::back_inserter(models));
  std::erase(models, "");
  report.set_plans(static_cast<int64_t>(division.going.size()));
  report.set_models(static_cast<int64_t>(models.size()));
  report.set_plans_left(division.left);
  if (age.dry_run) return absl::OkStatus();
  // Before the second look: a module that is found for a plan from here on is
  // used after its day.
  std::map<std::string, int64_t> last_uses;
  if (!models.empty()) {
    ASSIGN_OR_RETURN(last_uses, ReadLastUses(profiles));
  }
  report.set_plans(0);
  const auto going = absl::MakeConstSpan(division.going);
  for (size_t at = 0; at < going.size(); at += kPlansAtOnce) {
    ASSIGN_OR_RETURN(const int64_t removed,
                     plans.Remove(going.subspan(at, kPlansAtOnce)));
    report.set_plans(report.plans() + removed);
  }
  if (models.empty()) return absl::OkStatus();
  // Plans that were submitted since the first look.
  ASSIGN_OR_RETURN(const Division after, Divide(plans, oldest));
  std::erase_if(models, [&](const std::string& model) {
    return after.models_left.contains(model);
  });
  std::vector<UnusedProgram> unneeded;
  for (const std::string& model : models) {
    const auto last_use = last_uses.find(model);
    if (last_use == last_uses.end()) continue;  // a row names it
    unneeded.push_back({.key = model, .last_used_day = last_use->second});
  }
  ASSIGN_OR_RETURN(const int64_t removed, profiles.RemovePrograms(unneeded));
  report.set_models(removed);
  return absl::OkStatus();
}

}  // namespace meshwright::store
