#include "profiledb/sqlite/sqlite_plan_store.h"

#include <utility>

#include "base/status_macros.h"
#include "profiledb/sqlite/sqlite_database.h"
#include "profiledb/sqlite/sqlite_schema.h"
#include "profiledb/tables/table_plan_store.h"

namespace meshwright::sqlite {

absl::StatusOr<std::unique_ptr<store::PlanStore>> OpenSqlitePlanStore(
    const std::string& path) {
  ASSIGN_OR_RETURN(auto writing, SqliteDatabase::Open(path));
  RETURN_IF_ERROR(PrepareSchema(*writing));
  ASSIGN_OR_RETURN(auto reading, SqliteDatabase::Open(path));
  return tables::TablePlanStore::Create(std::move(writing), std::move(reading));
}

}  // namespace meshwright::sqlite
