#include "profiledb/sqlite/sqlite_profile_store.h"

#include <utility>

#include "base/status_macros.h"
#include "profiledb/sqlite/sqlite_database.h"
#include "profiledb/sqlite/sqlite_schema.h"

namespace meshwright::sqlite {
namespace {

// What a reader keeps of the file in memory at most, 256 MiB: with 32 MiB,
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
  ASSIGN_OR_RETURN(auto sides, OpenSides(std::move(writing), std::move(reading),
                                         options.clock));
  return std::unique_ptr<SqliteProfileStore>(
      new SqliteProfileStore(std::move(sides)));
}

}  // namespace meshwright::sqlite
