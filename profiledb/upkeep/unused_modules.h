// RemoveUnusedModules: removes modules that nobody asked for in a long time.
//
// Concept: a client puts a module before it submits the plan, and what it
// compares is put, too. One that was put and never submitted belongs to no
// plan. A module goes if no plan of the store, no row and no entry of the
// quarantine names it, and if nobody put, read or asked for it for so many
// days. Units: days of UTC; bytes as the store keeps them. Threads: any; a
// module that is used, or whose plan is submitted, meanwhile stays. Errors:
// those of the stores.
#ifndef MESHWRIGHT_PROFILEDB_UPKEEP_UNUSED_MODULES_H_
#define MESHWRIGHT_PROFILEDB_UPKEEP_UNUSED_MODULES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "profiledb/store/plan_store.h"
#include "profiledb/store/profile_store.h"
#include "proto/v1/reports.pb.h"

namespace meshwright::store {

struct ModuleAge {
  int64_t maximum_days = 0;
  bool dry_run = false;  // only says what would go
};

// Fills the report's modules and module_bytes. Both stores are of one database.
absl::Status RemoveUnusedModules(PlanStore& plans, ProfileStore& profiles,
                                 const ModuleAge& age, Nanoseconds now,
                                 v1::GcReport& report);

}  // namespace meshwright::store

#endif  // MESHWRIGHT_PROFILEDB_UPKEEP_UNUSED_MODULES_H_
