// FindPlanNeeds: the rows that the plans of a store need, so that garbage
// collection leaves them.
//
// Concept: a plan that is done states the rows it was made from. To explain it,
// or to make it again without measuring, is to read them. A plan that has not
// ended needs what it has looked up so far: rows used since its day. So does a
// plan that is done and states none, because an older program made it. Plans
// that failed or were cancelled need nothing.
// Threads: any. Errors: those of the store.
#ifndef MESHWRIGHT_PROFILEDB_UPKEEP_PLAN_NEEDS_H_
#define MESHWRIGHT_PROFILEDB_UPKEEP_PLAN_NEEDS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "profiledb/store/plan_store.h"

namespace meshwright::store {

struct PlanNeeds {
  absl::flat_hash_set<std::string> keys;
  // Rows that were used on this day (days since 1970 UTC) or later.
  std::optional<int64_t> used_since_day;
};

absl::StatusOr<PlanNeeds> FindPlanNeeds(PlanStore& plans);

}  // namespace meshwright::store

#endif  // MESHWRIGHT_PROFILEDB_UPKEEP_PLAN_NEEDS_H_
