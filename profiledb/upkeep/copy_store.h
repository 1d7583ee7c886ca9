// CopyStore: everything of one store into another.
//
// Concept: rows with all their measurements and the day of their last use,
// programs and models, and the crashes of the quarantine, all of one moment.
// What the other store has already stays, by the rules of precedence; copying
// again after a failure goes on where it ended. Left are rows that no store
// takes any more (pruned, absurd) and the marks of damaged rows.
//
// Threads: any. Errors: those of the stores.
#ifndef MESHWRIGHT_PROFILEDB_UPKEEP_COPY_STORE_H_
#define MESHWRIGHT_PROFILEDB_UPKEEP_COPY_STORE_H_

#include "absl/status/statusor.h"
#include "profiledb/store/profile_store.h"
#include "proto/v1/reports.pb.h"

namespace meshwright::store {

// The report is without the names of the stores.
absl::StatusOr<v1::MigrateReport> CopyStore(ProfileStore& from,
                                            ProfileStore& to);

}  // namespace meshwright::store

#endif  // MESHWRIGHT_PROFILEDB_UPKEEP_COPY_STORE_H_
