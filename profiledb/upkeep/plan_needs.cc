#include "profiledb/upkeep/plan_needs.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "base/status_macros.h"
#include "profiledb/store/plan_pages.h"
#include "profiledb/store/plan_updates.h"

namespace meshwright::store {
namespace {

int64_t FindDay(const v1::PlanRecord& record) {
  return std::chrono::floor<std::chrono::days>(
             std::chrono::nanoseconds(record.submitted_unix_ns()))
      .count();
}

// Whether the plan states its rows, which are added.
absl::StatusOr<bool> AddStated(PlanStore& plans, const v1::PlanRecord& record,
                               PlanId id, PlanNeeds& needs) {
  ASSIGN_OR_RETURN(const std::vector<v1::PlanUpdate> last,
                   plans.ReadUpdates(id, record.sequence() - 1, 1));
  if (last.empty()) return false;
  const std::vector<std::string> keys = UnpackKeys(last.front().row_keys());
  needs.keys.insert(keys.begin(), keys.end());
  return !keys.empty();
}

}  // namespace

absl::StatusOr<PlanNeeds> FindPlanNeeds(PlanStore& plans) {
  PlanNeeds needs;
  PlanFilter filter{.states = ListUnfinishedStates()};
  filter.states.push_back(v1::DONE);
  RETURN_IF_ERROR(
      ForEachPlan(plans, filter,
                  [&](PlanId id, const v1::PlanRecord& record) -> absl::Status {
                    if (record.state() == v1::DONE) {
                      ASSIGN_OR_RETURN(const bool states_rows,
                                       AddStated(plans, record, id, needs));
                      if (states_rows) return absl::OkStatus();
                    }
                    const int64_t day = FindDay(record);
                    needs.used_since_day =
                        std::min(needs.used_since_day.value_or(day), day);
                    return absl::OkStatus();
                  }));
  return needs;
}

}  // namespace meshwright::store
