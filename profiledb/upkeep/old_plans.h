// RemoveOldPlans: removes plans that ended long ago, and their models.
//
// Concept: a plan goes if it ended, and nothing was added to it for so many
// days. With the last plan of a model goes the model. Rows that only these
// plans needed (plan_needs.h) are then garbage like others (garbage.h).
// Units: days of UTC. Threads: any; a plan that is submitted meanwhile keeps
// its model. Errors: those of the stores.
#ifndef MESHWRIGHT_PROFILEDB_UPKEEP_OLD_PLANS_H_
#define MESHWRIGHT_PROFILEDB_UPKEEP_OLD_PLANS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "profiledb/store/plan_store.h"
#include "profiledb/store/profile_store.h"
#include "proto/v1/reports.pb.h"

namespace meshwright::store {

struct PlanAge {
  int64_t maximum_days = 0;
  bool dry_run = false;  // only says what would go
};

// Fills the report's plans, models and plans_left. Both stores are of one
// database.
absl::Status RemoveOldPlans(PlanStore& plans, ProfileStore& profiles,
                            const PlanAge& age, Nanoseconds now,
                            v1::GcReport& report);

}  // namespace meshwright::store

#endif  // MESHWRIGHT_PROFILEDB_UPKEEP_OLD_PLANS_H_
