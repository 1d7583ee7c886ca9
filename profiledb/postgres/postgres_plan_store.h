// OpenPostgresPlanStore: the PlanStore in the database of a profile store.
//
// Errors: those of PostgresProfileStore::Open.
#ifndef MESHWRIGHT_PROFILEDB_POSTGRES_POSTGRES_PLAN_STORE_H_
#define MESHWRIGHT_PROFILEDB_POSTGRES_POSTGRES_PLAN_STORE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "profiledb/store/plan_store.h"

namespace meshwright::postgres {

absl::StatusOr<std::unique_ptr<store::PlanStore>> OpenPostgresPlanStore(
    const std::string& url);

}  // namespace meshwright::postgres

#endif  // MESHWRIGHT_PROFILEDB_POSTGRES_POSTGRES_PLAN_STORE_H_
