#include "profiledb/postgres/postgres_plan_store.h"

#include <utility>

#include "base/status_macros.h"
#include "profiledb/postgres/postgres_database.h"
#include "profiledb/postgres/postgres_schema.h"
#include "profiledb/tables/table_plan_store.h"

namespace meshwright::postgres {

absl::StatusOr<std::unique_ptr<store::PlanStore>> OpenPostgresPlanStore(
    const std::string& url) {
  ASSIGN_OR_RETURN(auto writing, PostgresDatabase::Open(url));
  RETURN_IF_ERROR(PreparePostgresSchema(*writing));
  ASSIGN_OR_RETURN(auto reading, PostgresDatabase::Open(url));
  return tables::TablePlanStore::Create(std::move(writing), std::move(reading));
}

}  // namespace meshwright::postgres
