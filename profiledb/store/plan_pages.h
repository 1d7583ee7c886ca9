// ForEachPlan: all plans that match a filter, however many they are.
//
// Concept: a list of a PlanStore ends after a number of plans; here page
// follows page, the newest plan first. Plans that are added meanwhile are not
// among them. Threads: any. Errors: those of PlanStore::List, and of `visit`,
// which ends it.
#ifndef MESHWRIGHT_PROFILEDB_STORE_PLAN_PAGES_H_
#define MESHWRIGHT_PROFILEDB_STORE_PLAN_PAGES_H_

#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "profiledb/store/plan_store.h"

namespace meshwright::store {

// Those of plans that have not ended (HasEnded).
const std::vector<v1::PlanState>& ListUnfinishedStates();

// `filter` without `limit`. `visit` may ask the store.
absl::Status ForEachPlan(
    PlanStore& plans, PlanFilter filter,
    const std::function<absl::Status(PlanId, const v1::PlanRecord&)>& visit);

}  // namespace meshwright::store

#endif  // MESHWRIGHT_PROFILEDB_STORE_PLAN_PAGES_H_
