#include "profiledb/sqlite/sqlite_profile_store.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "profiledb/schema/migrations.h"
#include "profiledb/sqlite/sqlite_database.h"
#include "profiledb/sqlite/sqlite_schema.h"
#include "profiledb/tables/table_plan_store.h"

namespace meshwright::sqlite {
namespace {

// The maximum that a reader keeps of the file in memory, 256 MiB: with 32 MiB,
// look-ups among 100,000 rows are a third slower. A memory map is faster still,
// but a file that someone cuts short would kill the process.
constexpr char kReaderCache[] = "PRAGMA cache_size = -262144";

}  // namespace

absl::StatusOr<std::unique_ptr<SqliteProfileStore>> SqliteProfileStore::Open(
    const std::string& path, const SqliteOptions& options) {
  ASSIGN_OR_RETURN(auto writing, SqliteDatabase::Open(path));
  RETURN_IF_ERROR(PrepareSchema(*writing));
  if (options.max_bytes.has_value()) {
    RETURN_IF_ERROR(writing->Limit(*options.max_bytes));
  }
  ASSIGN_OR_RETURN(auto reading, SqliteDatabase::Open(path));
  RETURN_IF_ERROR(reading->Execute(kReaderCache));
  ASSIGN_OR_RETURN(auto scanning, SqliteDatabase::Open(path));
  ASSIGN_OR_RETURN(auto sides, OpenSides(std::move(writing), std::move(reading),
                                         std::move(scanning), options.clock));
  return std::unique_ptr<SqliteProfileStore>(
      new SqliteProfileStore(std::move(sides)));
}

absl::Status SqliteProfileStore::BackUp(const std::string& from,
                                        const std::string& to,
                                        std::optional<int64_t> max_bytes) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(from, error)) {
    return absl::NotFoundError(absl::StrCat("there is no store ", from));
  }
  absl::Status status = [&]() -> absl::Status {
    ASSIGN_OR_RETURN(const auto source, SqliteDatabase::Open(from));
    ASSIGN_OR_RETURN(const int64_t application,
                     source->QueryInteger("PRAGMA application_id"));
    if (application != schema::kApplicationId) {
      return absl::InvalidArgumentError(
          absl::StrCat(from, " is not a Meshwright store"));
    }
    ASSIGN_OR_RETURN(const auto target, SqliteDatabase::Open(to));
    if (max_bytes.has_value()) RETURN_IF_ERROR(target->Limit(*max_bytes));
    return source->CopyTo(*target);
  }();
  if (status.ok()) return status;
  for (const char* const suffix : {"", "-journal", "-wal", "-shm"}) {
    std::filesystem::remove(to + suffix, error);
  }
  return status;
}

absl::StatusOr<std::unique_ptr<store::PlanStore>> OpenSqlitePlanStore(
    const std::string& path) {
  ASSIGN_OR_RETURN(auto writing, SqliteDatabase::Open(path));
  RETURN_IF_ERROR(PrepareSchema(*writing));
  ASSIGN_OR_RETURN(auto reading, SqliteDatabase::Open(path));
  return tables::TablePlanStore::Create(std::move(writing), std::move(reading));
}

}  // namespace meshwright::sqlite
