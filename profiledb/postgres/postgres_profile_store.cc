#include "profiledb/postgres/postgres_profile_store.h"

#include <utility>

#include "base/status_macros.h"
#include "profiledb/postgres/postgres_database.h"
#include "profiledb/postgres/postgres_schema.h"
#include "profiledb/tables/table_plan_store.h"

namespace meshwright::postgres {

absl::StatusOr<std::unique_ptr<PostgresProfileStore>>
PostgresProfileStore::Open(const std::string& url, const base::Clock* clock) {
  ASSIGN_OR_RETURN(auto writing, PostgresDatabase::Open(url));
  RETURN_IF_ERROR(PreparePostgresSchema(*writing));
  ASSIGN_OR_RETURN(auto reading, PostgresDatabase::Open(url));
  ASSIGN_OR_RETURN(auto scanning, PostgresDatabase::Open(url));
  ASSIGN_OR_RETURN(auto sides, OpenSides(std::move(writing), std::move(reading),
                                         std::move(scanning), clock));
  return std::unique_ptr<PostgresProfileStore>(
      new PostgresProfileStore(std::move(sides)));
}

absl::StatusOr<std::unique_ptr<store::PlanStore>> OpenPostgresPlanStore(
    const std::string& url) {
  ASSIGN_OR_RETURN(auto writing, PostgresDatabase::Open(url));
  RETURN_IF_ERROR(PreparePostgresSchema(*writing));
  ASSIGN_OR_RETURN(auto reading, PostgresDatabase::Open(url));
  return tables::TablePlanStore::Create(std::move(writing), std::move(reading));
}

}  // namespace meshwright::postgres
