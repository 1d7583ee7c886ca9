#include "profiledb/sqlite/sqlite_schema.h"

#include <chrono>
#include <thread>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "profiledb/schema/migrations.h"
#include "profiledb/sqlite/convert_version_1.h"

namespace meshwright::sqlite {
namespace {

constexpr auto kJournalPatience = std::chrono::seconds(10);
constexpr auto kJournalPause = std::chrono::milliseconds(10);

// The version of a store that is ours or empty.
absl::StatusOr<int64_t> CheckVersion(SqliteDatabase& database) {
  ASSIGN_OR_RETURN(const int64_t version,
                   database.QueryInteger("PRAGMA user_version"));
  ASSIGN_OR_RETURN(const int64_t application,
                   database.QueryInteger("PRAGMA application_id"));
  ASSIGN_OR_RETURN(const int64_t tables,
                   database.QueryInteger("SELECT COUNT(*) FROM sqlite_schema"));
  const bool is_empty = application == 0 && version == 0 && tables == 0;
  if (!is_empty && application != schema::kApplicationId) {
    return absl::InvalidArgumentError(absl::StrCat(
        database.name(), " is a database of another program, not a store"));
  }
  if (version > schema::FindNewestVersion()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the store ", database.name(), " has version ", version,
        ", but this program knows none after ", schema::FindNewestVersion(),
        "; use a newer Meshwright, or a backup of the store from before"));
  }
  return version;
}

// SQLite does not wait for locks while it changes the journal mode.
absl::Status UseWriteAheadLog(SqliteDatabase& database) {
  const auto deadline = std::chrono::steady_clock::now() + kJournalPatience;
  while (true) {
    absl::Status status = database.Execute("PRAGMA journal_mode = WAL");
    if (!absl::IsUnavailable(status) ||
        std::chrono::steady_clock::now() > deadline) {
      return status;
    }
    std::this_thread::sleep_for(kJournalPause);
  }
}

}  // namespace

absl::Status PrepareSchema(SqliteDatabase& database) {
  // Before anything is written: a foreign file stays as it is. In one read
  // transaction, or what another process makes of a new file meanwhile would
  // look foreign.
  RETURN_IF_ERROR(database.Transact(
      tables::Access::kRead, [&] { return CheckVersion(database).status(); }));
  RETURN_IF_ERROR(UseWriteAheadLog(database));
  RETURN_IF_ERROR(database.Execute("PRAGMA synchronous = FULL"));
  return database.Transact(tables::Access::kWrite, [&]() -> absl::Status {
    ASSIGN_OR_RETURN(const int64_t version, CheckVersion(database));
    if (version == schema::FindNewestVersion()) return {};
    for (const schema::Migration& migration : schema::ListMigrations()) {
      if (migration.version <= version) continue;
      RETURN_IF_ERROR(database.Execute(migration.sql));
      if (migration.version == 2) RETURN_IF_ERROR(ConvertVersion1(database));
      if (migration.cleanup_sql == nullptr) continue;
      RETURN_IF_ERROR(database.Execute(migration.cleanup_sql));
    }
    return database.Execute(
        absl::StrCat("PRAGMA application_id = ", schema::kApplicationId,
                     "; PRAGMA user_version = ", schema::FindNewestVersion()));
  });
}

}  // namespace meshwright::sqlite
