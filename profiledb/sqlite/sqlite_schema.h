// PrepareSchema: brings an opened SQLite file to the newest schema.
//
// Concept: under the write lock. Of several processes that open a new file at
// once one creates it, and the others find it made.
// Errors: kFailedPrecondition for a store of a newer version, kInvalidArgument
// for a database of another program.
#ifndef MESHWRIGHT_PROFILEDB_SQLITE_SQLITE_SCHEMA_H_
#define MESHWRIGHT_PROFILEDB_SQLITE_SQLITE_SCHEMA_H_

#include "absl/status/status.h"
#include "profiledb/sqlite/sqlite_database.h"

namespace meshwright::sqlite {

absl::Status PrepareSchema(SqliteDatabase& database);

}  // namespace meshwright::sqlite

#endif  // MESHWRIGHT_PROFILEDB_SQLITE_SQLITE_SCHEMA_H_
