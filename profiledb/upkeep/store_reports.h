// Reports of what a store holds, for administrators.
//
// Concept: the reports of `meshwright profiles stats|quarantine|verify|show`,
// from a store. They read it; ReportDamage alone changes it.
// Threads: any. Errors: those of the store.
#ifndef MESHWRIGHT_PROFILEDB_UPKEEP_STORE_REPORTS_H_
#define MESHWRIGHT_PROFILEDB_UPKEEP_STORE_REPORTS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "profiledb/store/plan_store.h"
#include "profiledb/store/profile_store.h"
#include "proto/v1/reports.pb.h"

namespace meshwright::store {

// Counts rows, machines and programs; reads every row.
absl::StatusOr<v1::StoreReport> ReportStore(ProfileStore& store);

// The entries by key, with their logs.
absl::StatusOr<v1::QuarantineReport> ReportQuarantine(ProfileStore& store);

// Reads every row and every plan, and sets the damaged ones aside.
absl::StatusOr<v1::VerifyReport> ReportDamage(ProfileStore& store,
                                              PlanStore& plans);

// Each key's summary with the measurements that its row keeps. The row is
// `team`'s, else that of the shared pool. Errors also: kInvalidArgument for a
// key that is none.
absl::StatusOr<v1::RowsReport> ReportRows(ProfileStore& store,
                                          absl::Span<const std::string> keys,
                                          const std::string& team);

}  // namespace meshwright::store

#endif  // MESHWRIGHT_PROFILEDB_UPKEEP_STORE_REPORTS_H_
