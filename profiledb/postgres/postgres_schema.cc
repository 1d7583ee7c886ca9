#include "profiledb/postgres/postgres_schema.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "profiledb/schema/migrations.h"

namespace meshwright::postgres {
namespace {

constexpr char kIsUnicode[] =
    "SELECT COUNT(*) FROM pg_database WHERE datname = current_database() "
    "AND pg_encoding_to_char(encoding) = 'UTF8'";
constexpr char kIsOurs[] =
    "SELECT COUNT(*) FROM pg_tables WHERE schemaname = current_schema() "
    "AND tablename = 'meshwright_store'";
constexpr char kTaken[] =
    "SELECT COUNT(*) FROM pg_tables WHERE schemaname = current_schema() "
    "AND tablename IN ('profiles', 'measurements', 'quarantine', 'programs')";

// 0: there is none.
absl::StatusOr<int64_t> FindVersion(tables::Database& database) {
  ASSIGN_OR_RETURN(const int64_t is_ours, database.QueryInteger(kIsOurs));
  if (is_ours > 0) {
    return database.QueryInteger("SELECT version FROM meshwright_store");
  }
  ASSIGN_OR_RETURN(const int64_t taken, database.QueryInteger(kTaken));
  if (taken == 0) return 0;
  return absl::InvalidArgumentError(absl::StrCat(
      database.name(), " is a database of another program, not a store"));
}

}  // namespace

absl::Status PreparePostgresSchema(tables::Database& database) {
  return database.Transact(tables::Access::kWrite, [&]() -> absl::Status {
    ASSIGN_OR_RETURN(const int64_t is_unicode,
                     database.QueryInteger(kIsUnicode));
    if (is_unicode == 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the encoding of the database ", database.name(),
          " is not UTF8; create one with TEMPLATE template0 ENCODING 'UTF8'"));
    }
    ASSIGN_OR_RETURN(const int64_t version, FindVersion(database));
    const int newest = schema::FindNewestPostgresVersion();
    if (version > newest) {
      return absl::FailedPreconditionError(absl::StrCat(
          "the store ", database.name(), " has version ", version,
          ", but this program knows none after ", newest,
          "; use a newer Meshwright, or a backup of the store from before"));
    }
    if (version == newest) return {};
    for (const schema::Migration& migration :
         schema::ListPostgresMigrations()) {
      if (migration.version <= version) continue;
      RETURN_IF_ERROR(database.Execute(migration.sql));
    }
    return database.Execute(
        absl::StrCat("UPDATE meshwright_store SET version = ", newest));
  });
}

}  // namespace meshwright::postgres
