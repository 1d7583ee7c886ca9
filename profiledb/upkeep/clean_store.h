// CleanStore: garbage collection of a whole store, by the limits that an
// administrator gives.
//
// Concept: plans that ended long ago go first (old_plans.h), then the rows that
// no plan needs (garbage.h), then the modules that nobody asked for
// (unused_modules.h).
// Threads: any. Errors: kInvalidArgument for limits that are none, are negative
// or name a key that is none; those of the stores.
#ifndef MESHWRIGHT_PROFILEDB_UPKEEP_CLEAN_STORE_H_
#define MESHWRIGHT_PROFILEDB_UPKEEP_CLEAN_STORE_H_

#include "absl/status/statusor.h"
#include "profiledb/store/plan_store.h"
#include "profiledb/store/profile_store.h"
#include "proto/v1/reports.pb.h"

namespace meshwright::store {

// Both stores are of one database.
absl::StatusOr<v1::GcReport> CleanStore(ProfileStore& profiles,
                                        PlanStore& plans,
                                        const v1::GcLimits& limits,
                                        Nanoseconds now);

}  // namespace meshwright::store

#endif  // MESHWRIGHT_PROFILEDB_UPKEEP_CLEAN_STORE_H_
