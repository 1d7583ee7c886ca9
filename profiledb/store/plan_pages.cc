#include "profiledb/store/plan_pages.h"

#include <iterator>
#include <utility>

#include "base/status_macros.h"
#include "profiledb/store/plan_updates.h"

namespace meshwright::store {
namespace {

constexpr int kPlansPerPage = 1000;

}  // namespace

const std::vector<v1::PlanState>& ListUnfinishedStates() {
  static const auto& kStates = *new std::vector<v1::PlanState>{
      v1::QUEUED, v1::ANALYSING, v1::MEASURING, v1::WAITING, v1::SEARCHING};
  return kStates;
}

absl::Status ForEachPlan(
    PlanStore& plans, PlanFilter filter,
    const std::function<absl::Status(PlanId, const v1::PlanRecord&)>& visit) {
  filter.limit = kPlansPerPage;
  while (true) {
    ASSIGN_OR_RETURN(const std::vector<v1::PlanRecord> page,
                     plans.List(filter));
    for (const v1::PlanRecord& record : page) {
      ASSIGN_OR_RETURN(filter.before, ParsePlanId(record.id()));
      RETURN_IF_ERROR(visit(filter.before, record));
    }
    if (std::ssize(page) < kPlansPerPage) return absl::OkStatus();
  }
}

}  // namespace meshwright::store
