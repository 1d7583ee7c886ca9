// OpenSqlitePlanStore: the PlanStore in the file of a profile store.
//
// Errors: those of SqliteProfileStore::Open.
#ifndef MESHWRIGHT_PROFILEDB_SQLITE_SQLITE_PLAN_STORE_H_
#define MESHWRIGHT_PROFILEDB_SQLITE_SQLITE_PLAN_STORE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "profiledb/store/plan_store.h"

namespace meshwright::sqlite {

absl::StatusOr<std::unique_ptr<store::PlanStore>> OpenSqlitePlanStore(
    const std::string& path);

}  // namespace meshwright::sqlite

#endif  // MESHWRIGHT_PROFILEDB_SQLITE_SQLITE_PLAN_STORE_H_
