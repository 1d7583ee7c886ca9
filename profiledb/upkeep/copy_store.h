// CopyStore, CopyWholeStore: everything of one store into another.
//
// Concept: rows with all their measurements and the day of their last use,
// programs, models, and the crashes of the quarantine. All are of one moment.
// The rows that the other store has already stay, by the rules of precedence;
// copying again after a failure goes on where it ended. Left are rows that no
// store takes any more (pruned, absurd) and the marks of damaged rows.
//   Plans are copied with their updates, under their ids: those that there are
// when the copy begins. They are copied before the rows, so that all rows that
// they state come with them, and their modules. A plan that is removed
// meanwhile does not come. Left are damaged plans, and those whose id or
// request id another plan of the other store has. Devices, orders and the audit
// log come, too; workers belong to the coordinator that leads.
//
// Threads: any. Errors: those of the stores.
#ifndef MESHWRIGHT_PROFILEDB_UPKEEP_COPY_STORE_H_
#define MESHWRIGHT_PROFILEDB_UPKEEP_COPY_STORE_H_

#include "absl/status/statusor.h"
#include "profiledb/store/plan_store.h"
#include "profiledb/store/profile_store.h"
#include "proto/v1/reports.pb.h"

namespace meshwright::store {

// The report is without the names of the stores.
absl::StatusOr<v1::MigrateReport> CopyStore(ProfileStore& from,
                                            ProfileStore& to);

// The two halves of one store.
struct StoreHalves {
  ProfileStore* profiles;
  PlanStore* plans;
};
absl::StatusOr<v1::MigrateReport> CopyWholeStore(const StoreHalves& from,
                                                 const StoreHalves& to);

}  // namespace meshwright::store

#endif  // MESHWRIGHT_PROFILEDB_UPKEEP_COPY_STORE_H_
